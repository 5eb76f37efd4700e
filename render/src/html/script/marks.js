// Marks words. Nothing of the page changes: the browser paints ranges of its text.

const marks = (() => {
  const most = 10000;
  const all = globalThis.Highlight && new Highlight();
  const here = globalThis.Highlight && new Highlight();
  if (all) {
    here.priority = 1;
    CSS.highlights.set("found", all);
    CSS.highlights.set("found-here", here);
  }
  const block = "p, pre, li, td, th, dt, dd, h2, h3, h4, h5, blockquote, figcaption, div, summary, summary > span"; // As in `visible.rs`.
  const skipped = ".vh, .at, .why, svg, button, .explain";

  // The text within an element, and where each of its pieces begins. Words do not continue in another block.
  function textOf(element) {
    const pieces = [];
    let text = "";
    let last;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (parent.closest(skipped)) continue;
      const within = parent.closest(block);
      if (within !== last) text += "\n\n";
      last = within;
      pieces.push({ node, begin: text.length });
      text += node.data;
    }
    return { pieces, text };
  }

  // The places of words within an element, in any case of letters.
  function rangesIn(element, words) {
    const { pieces, text } = textOf(element);
    const lower = text.toLowerCase();
    const wanted = words.toLowerCase();
    const source = lower.length === text.length ? lower : text; // A few letters have longer small forms.
    const ranges = [];
    let piece = 0;
    const boundary = (at, isEnd) => {
      while (piece + 1 < pieces.length && pieces[piece + 1].begin + (isEnd ? 1 : 0) <= at) piece += 1;
      const { node, begin } = pieces[piece];
      return [node, Math.max(0, Math.min(at - begin, node.length))];
    };
    for (let at = source.indexOf(wanted); at >= 0 && ranges.length < most; at = source.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(...boundary(at, false));
      range.setEnd(...boundary(at + wanted.length, true));
      ranges.push(range);
    }
    return ranges;
  }

  function paint(ranges) {
    all?.clear();
    here?.clear();
    for (const range of ranges) all?.add(range);
  }

  // Leads to a range: what it is folded in is opened.
  function show(range) {
    here?.clear();
    here?.add(range);
    const element = range.startContainer.parentElement;
    for (let outer = element.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
    element.scrollIntoView({ block: "center" });
  }

  return { rangesIn, paint, show };
})();
