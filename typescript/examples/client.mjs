// Prints what a session says, while it grows:
// node client.mjs http://127.0.0.1:7433/api/sessions/ID/patches
import { subscribe } from "foldline";
let printed = 0;
function print({ entries, open = {} }) {
  const known = Math.min(entries.length, ...Object.values(open));
  for (; printed < known; printed++) console.log(entries[printed].content.content);
}
await subscribe(process.argv[2], { onDocument: print, onPatch: (_, document) => print(document) });
