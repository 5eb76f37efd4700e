// Colours code. Nothing of the page changes: the browser paints ranges of its text, only where it is in view.

(() => {
  if (!globalThis.Highlight || !globalThis.IntersectionObserver) return;
  const longest = 1 << 16; // Longer code is not coloured.
  const kinds = ["comment", "string", "number", "keyword"];
  const painted = kinds.map((kind) => {
    const highlight = new Highlight();
    highlight.priority = -1; // Words that were searched for are on top.
    CSS.highlights.set(`code-${kind}`, highlight);
    return highlight;
  });

  const words = (list) => `\\b(?:${list.replaceAll(" ", "|")})\\b`;
  const number = "\\b(?:0[xob][\\da-f_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\w*\\b";
  const quoted = (mark) => `${mark}(?:\\\\.|[^${mark}\\\\\\n])*${mark}`;
  const over = (open, close) => `${open}[^]*?(?:${close}|(?![^]))`; // Over several lines, or to the end.
  const either = (...patterns) => patterns.join("|");
  const [slashes, hash] = [either("//.*", over("/\\*", "\\*/")), "(?<![\\w$\\\\{&'\"])#.*"];
  const quotes = either(quoted('"'), quoted("'"));
  const key = "^[ \\t-]*[\\w.\"'-]+(?=[ \\t]*[:=](?:[ \\t]|$))";
  const clike = "break case class const continue default do else enum false for if new null return static switch this throw true try catch finally void while ";
  // Of each family: comments, strings, numbers, keywords.
  const families = {
    rs: [slashes, either('b?r(?:"[^"]*"|#"[^]*?"#)', 'b?"(?:\\\\[^]|[^"\\\\])*"', "b?'(?:\\\\[^']+|[^'\\\\\\n])'"), number,
      words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while")],
    js: [slashes, either(quotes, over("`", "(?<!\\\\)`")), number,
      words(clike + "abstract as async await declare delete export extends from function get implements import in instanceof interface let namespace of private protected public readonly set super type typeof undefined var yield any bigint boolean never number object string symbol unknown")],
    py: [hash, either(over('"""', '"""'), over("'''", "'''"), quotes), number,
      words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield")],
    go: [slashes, either(quotes, over("`", "`")), number,
      words("break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var")],
    c: [slashes, quotes, number,
      words(clike + "abstract as async auto await base bool boolean byte char companion constexpr data delete double export extends extern final float foreach fun function global goto guard implements import in inline int interface internal is let long namespace nullptr object open operator override package private protected public readonly ref sealed self short signed sizeof struct super template typedef typename union unsigned use using val var virtual volatile when where")],
    rb: [hash, quotes, number,
      words("alias and begin break case class def defined do else elsif end ensure false fn for if in local module next nil not or redo rescue retry return self super then true undef unless until when while yield")],
    sh: [hash, either(quoted('"').replace("\\n", ""), "'[^']*'"), "\\$(?:\\w+|[?@#*!$]|\\{[^}\\n]*\\})",
      words("if then else elif fi for while until do done case esac in function return export local set exit source FROM RUN COPY ENV ARG WORKDIR CMD ENTRYPOINT")],
    sql: [either("--.*", over("/\\*", "\\*/")), quoted("'"), number,
      words("add alter and as asc between by case check column constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then true union unique update using values view when where with")],
    json: ["//.*", '"(?:\\\\.|[^"\\\\\\n])*"(?!\\s*:)', "-?" + number, either('"(?:\\\\.|[^"\\\\\\n])*"(?=\\s*:)', words("true false null"))],
    yaml: ["(?:^|(?<=\\s))[#;].*", quotes, number, either(key, "^\\[.*\\]", words("true false null yes no"))],
    css: [over("/\\*", "\\*/"), quotes, "#[\\da-f]{3,8}\\b|-?\\b\\d[\\d.]*(?:%|[a-z]+)?", either("[\\w-]+(?=\\s*:\\s)", "@[\\w-]+", "!important")],
    xml: [over("<!--", "-->"), quotes, "&\\w+;", "</?[\\w:.-]+|/?>"],
  };
  const names = {
    rs: "rust", js: "jsx mjs cjs ts tsx mts cts javascript typescript", py: "python pyi", go: "golang",
    c: "h cc cpp cxx hpp java kt kts kotlin cs csharp swift php scala dart m mm zig proto groovy gradle", rb: "ruby ex exs elixir lua",
    sh: "bash zsh fish shell console dockerfile makefile mk", sql: "sqlite postgres postgresql mysql",
    json: "jsonl json5 jsonc", yaml: "yml toml ini cfg conf properties", css: "scss less sass", xml: "html htm svg vue svelte xhtml plist",
  };
  const family = new Map();
  for (const [name, others] of Object.entries(names)) for (const one of [name, ...others.split(" ")]) family.set(one, name);
  const patterns = new Map();
  function pattern(language) {
    const name = family.get(language);
    if (name && !patterns.has(name)) {
      const groups = families[name].map((one, at) => `(?<${kinds[at]}>${one})`);
      patterns.set(name, new RegExp(groups.join("|"), name === "sql" ? "gim" : "gm"));
    }
    return patterns.get(name);
  }

  // The text nodes of code, without the signs of a diff.
  function piecesOf(block) {
    const pieces = [];
    let text = "";
    const isDiff = block.classList.contains("diff");
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && text.length <= longest; node = walker.nextNode()) {
      const row = node.parentElement;
      if (row.className === "hunk") continue;
      const skip = isDiff && row !== block && row.parentElement === block && row.firstChild === node ? 1 : 0;
      pieces.push({ node, begin: text.length, skip });
      text += node.data.slice(skip);
    }
    return { pieces, text };
  }

  const rangesOf = new Map();
  function paint(block) {
    const found = pattern(block.dataset.language);
    if (!found || rangesOf.has(block)) return;
    const { pieces, text } = piecesOf(block);
    const ranges = [];
    let piece = 0;
    const place = (at, isEnd) => {
      while (piece + 1 < pieces.length && pieces[piece + 1].begin + (isEnd ? 1 : 0) <= at) piece += 1;
      const { node, begin, skip } = pieces[piece];
      return [node, Math.min(at - begin + skip, node.length)];
    };
    if (text.length <= longest) {
      for (const match of text.matchAll(found)) {
        const kind = kinds.findIndex((name) => match.groups[name] !== undefined);
        if (!match[0]) continue;
        const [startContainer, startOffset] = place(match.index, false);
        const [endContainer, endOffset] = place(match.index + match[0].length, true);
        const range = new StaticRange({ startContainer, startOffset, endContainer, endOffset });
        painted[kind].add(range);
        ranges.push([kind, range]);
      }
    }
    rangesOf.set(block, ranges);
  }
  function clear(block) {
    for (const [kind, range] of rangesOf.get(block) ?? []) painted[kind].delete(range);
    rangesOf.delete(block);
  }

  const seen = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) (isIntersecting ? paint : clear)(target);
    },
    { rootMargin: "50%" },
  );
  const observe = (within) => {
    if (within.dataset.language) seen.observe(within);
    for (const block of within.querySelectorAll("[data-language]")) seen.observe(block);
  };
  const feed = document.getElementById("feed");
  if (!feed) return;
  observe(feed);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) {
      if (node.nodeType === Node.ELEMENT_NODE) observe(node);
    }
  }).observe(feed, { childList: true, subtree: true });
})();
