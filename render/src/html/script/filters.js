// Shows only the calls of one tool, chosen in the side column. Calls with sub-agents stay, as theirs are within.

(() => {
  const side = document.getElementById("side");
  const choice = document.querySelector(".top .seg");
  if (!side || !choice) return;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const clear = document.createElement("button");
  clear.type = "button";
  clear.className = "only";
  clear.addEventListener("click", () => show(undefined));
  let shown;

  const mark = () => {
    for (const button of side.querySelectorAll("button[data-tool]")) {
      button.setAttribute("aria-pressed", button.dataset.tool === shown);
    }
  };
  function show(tool) {
    const hadFocus = document.activeElement === clear;
    shown = tool;
    clear.remove();
    if (tool === undefined) {
      sheet.replaceSync("");
      if (hadFocus) choice.querySelector("input:checked")?.focus();
    } else {
      const chosen = `[data-tool="${CSS.escape(tool)}"]`;
      sheet.replaceSync(`#feed .entry:not(${chosen}, [data-action="task_create"]) { display: none; }`);
      clear.textContent = `Only ${tool}`;
      clear.title = "Show the calls of all tools";
      choice.append(clear);
    }
    mark();
  }
  side.addEventListener("click", ({ target }) => {
    const tool = target.closest("button[data-tool]")?.dataset.tool;
    if (tool !== undefined) show(tool === shown ? undefined : tool);
  });
  new MutationObserver(mark).observe(side, { childList: true });
})();

// Beside each choice of entries stands how many there are. The facts of a session that grows are replaced.
(() => {
  const main = document.querySelector("main.session");
  const choice = document.querySelector(".top .seg");
  if (!main || !choice) return;
  const count = () => {
    const { calls, bad } = main.querySelector(".about")?.dataset ?? {};
    for (const [value, number] of [["calls", calls], ["bad", bad]]) {
      const words = choice.querySelector(`input[value="${value}"] + span`);
      const small = words.querySelector("small") ?? document.createElement("small");
      small.textContent = number ?? "";
      words.append(small);
    }
  };
  count();
  new MutationObserver(count).observe(main, { childList: true });
})();
