// What programs write: the compiler checks it, and does not run it.
import {
  Fold, Refused, applyPatch, fold, records, subscribe,
  type Conversation, type ListedSession, type NormalizedEntryType, type PatchRecord,
} from "foldline";

const stop = new AbortController();
let shown: Conversation | undefined;
const ended: Promise<void> = subscribe(new URL("http://127.0.0.1:7433/api/sessions/ID/patches"), {
  onDocument: (document) => (shown = document),
  onPatch: (patch, document) => {
    shown = applyPatch(shown ?? document, patch);
    const path: string = patch[0].path;
    console.log(path);
  },
  onGap: () => console.log("a gap"),
  signal: stop.signal,
  headers: { authorization: "Bearer token" },
});
ended.catch((error: unknown) => console.log(error instanceof Refused ? error.status : error));

// The kinds of entries are a union that a program can exhaust.
function symbol({ type }: NormalizedEntryType): string | undefined {
  switch (type) {
    case "user_message":
      return "❯";
    case "tool_use":
      return "$";
    default:
      return undefined;
  }
}

async function read(file: File, answer: Response): Promise<string[]> {
  const documents: Conversation[] = await fold(file, { path: file.name });
  if (answer.body) documents.push(...(await fold(answer.body, { format: "claude-session" })));
  const session = await Fold.create({ path: file.name, outputs: { pages: true } });
  const patches: PatchRecord[] = records(session.push(new Uint8Array()) + session.finish());
  const page: string | undefined = session.page(0);
  const list: ListedSession[] = await (await fetch("/api/sessions")).json();
  console.log(patches[0]?.patch[0].op, page, list[0]?.title);
  return documents.flatMap(({ entries }) => entries.map(({ content }) => symbol(content.entry_type) ?? content.content));
}
void read;

// @ts-expect-error: a log is bytes.
void fold(7);
// @ts-expect-error: there is no such output.
void Fold.create({ outputs: { transcript: true } });
// @ts-expect-error: an instance is made by `create`.
void new Fold();
// @ts-expect-error: an addition has a value.
applyPatch({}, [{ op: "add", path: "/a" }]);
