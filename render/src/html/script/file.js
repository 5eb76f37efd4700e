// What a page does in a file: it shows some entries, and finds words. Everything else works without a script.
"use strict";

addEventListener("change", ({ target }) => {
  if (target.name === "show") document.documentElement.dataset.show = target.value;
});

(() => {
  const form = document.getElementById("find");
  const [field, hits] = [form.querySelector("input"), form.querySelector(".hits")];
  const feed = document.getElementById("feed");
  let found = { words: "", ranges: [], at: -1 };

  function find(words) {
    const ranges = words ? marks.rangesIn(feed, words) : [];
    found = { words, ranges, at: -1 };
    marks.paint(ranges);
    hits.textContent = !words ? "" : ranges.length ? `${ranges.length}` : "none";
  }
  function go(by) {
    const { ranges } = found;
    // What the filter hides is passed over.
    for (let tries = 0; tries < ranges.length; tries++) {
      found.at = (found.at + by + ranges.length) % ranges.length;
      const range = ranges[found.at];
      if (!range.startContainer.parentElement.closest(".entry")?.checkVisibility()) continue;
      marks.show(range);
      hits.textContent = `${found.at + 1} of ${ranges.length}`;
      return;
    }
  }
  let typing;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => find(field.value.trim()), 150);
  });
  let isBack = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    const words = field.value.trim();
    if (words !== found.words) find(words);
    if (found.at < 0 && isBack) found.at = 0;
    go(isBack ? -1 : 1);
  });
  addEventListener("keydown", (event) => {
    const isField = event.target.matches("input, select, textarea");
    isBack = event.shiftKey;
    if (event.key === "Escape" && event.target === field) {
      field.value = "";
      find("");
      field.blur();
    } else if (event.key === "/" && !isField && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });
})();
