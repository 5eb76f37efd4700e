// A page that opens logs without a server. `Fold` is defined before.

const [choose, sessions, progress, status, empty, shown] = ["choose", "sessions", "progress", "status", "empty", "shown"].map(
  (id) => document.getElementById(id),
);

/** The module, which is in the page as base64 of gzip. */
const bundled = (async () => {
  const base64 = document.getElementById("wasm");
  const bytes = Uint8Array.from(atob(base64.textContent), (letter) => letter.charCodeAt(0));
  base64.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
})();

/** The bytes of a file; a log that is compressed with gzip is decompressed. */
async function content(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isGzip = first === 0x1f && second === 0x8b;
  return isGzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The number of the log that was opened last. An earlier one is abandoned. */
let opened = 0;

async function open(file, siblings) {
  const number = ++opened;
  const isLast = () => number === opened;
  say(`Reading ${file.name}`);
  document.title = `${file.name} · Foldline`;
  [progress.hidden, progress.value, sessions.hidden] = [false, 0, true];
  try {
    const path = file.name.replace(/\.gz$/, "");
    const outputs = { patches: false, conversations: false, pages: true };
    const fold = await Fold.create({ module: await bundled, path, siblings, outputs, zone });
    const reader = (await content(file)).getReader();
    let [read, painted] = [0, performance.now()];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!isLast()) return void reader.cancel();
      fold.push(part.value);
      read += part.value.length;
      if (performance.now() - painted > 50) {
        progress.value = file.size ? Math.min(1, read / file.size) : 1;
        // The page is painted, and takes clicks.
        await new Promise((resolve) => setTimeout(resolve));
        painted = performance.now();
      }
    }
    if (!isLast()) return;
    fold.finish();
    show(fold, file.name, Object.keys(siblings).length);
  } catch (error) {
    if (isLast()) say(`${file.name}: ${error.message ?? error}`, true);
  } finally {
    if (isLast()) progress.hidden = true;
  }
}

function show(fold, name, others) {
  const first = fold.page(0);
  if (first === undefined) return say(`${name}: no session in it`, true);
  const count = fold.sessions();
  sessions.replaceChildren(...Array.from({ length: count }, (_, number) => new Option(`Session ${number + 1}`, number)));
  sessions.hidden = count < 2;
  sessions.onchange = () => (shown.srcdoc = fold.page(Number(sessions.value)));
  [empty.hidden, shown.hidden, shown.srcdoc] = [true, false, first];
  say(others ? `${name} (facts from other files: ${others})` : name);
}

function say(text, isFailure = false) {
  status.textContent = text;
  status.classList.toggle("failed", isFailure);
}

/** Opens the first log of the files. Small others may state facts about its session; further logs are refused. */
async function openAll(files) {
  const [file, ...others] = [...files].sort((one, other) => rank(one) - rank(other));
  if (!file) return;
  const further = others.filter((other) => rank(other) === 0);
  if (further.length > 0) return say(`One log at a time: ${[file, ...further].map(({ name }) => name).join(", ")}`, true);
  const texts = others.filter(({ size }) => size <= 1 << 20).map(async (other) => [other.name, await other.text()]);
  await open(file, Object.fromEntries(await Promise.all(texts)));
}

/** Logs come before files with facts. */
const rank = ({ name }) => [/\.jsonl(\.gz)?$/, /\.json$/].findIndex((ending) => ending.test(name)) >>> 0;

choose.addEventListener("change", () => {
  openAll(choose.files);
  // The same file may be chosen again, when it has grown.
  choose.value = "";
});

/** Takes dropped files, here and in the page of a session. */
function takeDrops(target) {
  const over = (isOver) => document.body.classList.toggle("over", isOver);
  target.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  target.addEventListener("dragleave", () => over(false));
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    openAll(event.dataTransfer.files);
  });
}

takeDrops(window);
shown.addEventListener("load", () => {
  takeDrops(shown.contentWindow);
  document.title = shown.contentDocument.title;
});
