// Marks the final answers, for the view of these: the last message of each turn.

(() => {
  const feed = document.getElementById("feed");
  if (!feed) return;
  function mark() {
    if (document.documentElement.dataset.show !== "answers") return;
    let isLast = true;
    for (const entry of [...feed.querySelectorAll(":scope > .entry")].reverse()) {
      const { type } = entry.dataset;
      if (type === "user_message") isLast = true;
      if (type !== "assistant_message") continue;
      entry.toggleAttribute("data-final", isLast);
      isLast = false;
    }
  }
  new MutationObserver(mark).observe(feed, { childList: true });
  new MutationObserver(mark).observe(document.documentElement, { attributeFilter: ["data-show"] });
  mark();
})();
