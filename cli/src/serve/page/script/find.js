// Finding: the server names the entries with the words, and each word in them is marked and reached.

function finding(session) {
  const form = byId("find");
  const field = form.q;
  const hits = form.querySelector(".hits");
  let found = { words: "", entries: [], at: -1, ranges: [], word: -1 };

  function say(text) {
    hits.textContent = text;
    byId("news").textContent = text && `found: ${text}`;
  }

  function forget() {
    found = { words: "", entries: [], at: -1, ranges: [], word: -1 };
    marks.paint([]);
    say("");
  }

  async function ask(words) {
    const answer = await fetch(`${session.path}/find?${new URLSearchParams({ q: words })}`);
    found = { words, entries: answer.ok ? await answer.json() : [], at: -1, ranges: [], word: -1 };
  }

  // The next word in the same entry, or else the first one in the next entry; backwards too.
  async function go(by) {
    // What is later than the moment that is shown is not there.
    const entries = found.entries.filter((index) => !session.isPast() || byId(`e${index}`) || session.gapOf(index));
    if (entries.length === 0) return say("none");
    found.word += by;
    if (!found.ranges[found.word]?.startContainer.isConnected) {
      found.at = (found.at + by + entries.length) % entries.length;
      await session.goTo(entries[found.at]);
      marks.paint(marks.rangesIn(session.feed, found.words));
      const entry = byId(`e${entries[found.at]}`);
      found.ranges = entry ? marks.rangesIn(entry, found.words) : [];
      found.word = by > 0 ? 0 : found.ranges.length - 1;
      field.focus({ preventScroll: true });
    }
    const range = found.ranges[found.word];
    if (range) marks.show(range);
    say(`${found.at + 1} of ${entries.length}`);
  }

  let isBack = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = field.value.trim();
    if (!words) return forget();
    if (words !== found.words) await ask(words);
    if (found.at < 0 && isBack) found.at = 0;
    await go(isBack ? -1 : 1);
  });
  field.addEventListener("keydown", (event) => (isBack = event.shiftKey));
  field.addEventListener("input", () => field.value.trim() || forget());
}
