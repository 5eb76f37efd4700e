// A button that copies: one for the whole page, over what the pointer or the focus is on. It copies
// code, output, a command, a prompt, or the id of the session.

(() => {
  const blocks = "pre, .entry[data-type=user_message] > .said, .entry[data-action=command_run] > .call > .line, .about .id";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  let block;

  const rows = (element) => element?.innerText.replace(/\n$/, "") ?? "";
  function textOf(element) {
    if (element.matches(".said")) return rows(element.querySelector(".md"));
    if (element.matches(".line")) {
      // A command that its row cannot show is the first text of the body.
      const title = element.querySelector(".title");
      const whole = element.parentElement.querySelector(".body > pre.out");
      return title.textContent.endsWith("…") && whole ? whole.textContent : title.textContent;
    }
    if (!element.matches(".out.head")) return element.matches(".diff") ? rows(element) : element.textContent;
    const fold = element.nextElementSibling;
    return [element, fold?.querySelector("pre"), fold?.nextElementSibling].map((it) => it?.textContent ?? "").join("\n");
  }
  function what(element) {
    if (element.matches(".said")) return "prompt";
    if (element.matches(".line")) return "command";
    return element.matches(".id") ? "id" : "text";
  }
  function show(target) {
    const within = target?.closest?.(`${blocks}, .copy`);
    if (within === button) return;
    // An entry that has the focus has one thing that is copied.
    const own = target?.matches?.(".entry") && [...target.children].flatMap((it) => [it, ...it.children]).find((it) => it.matches(blocks));
    const known = within ?? (own || undefined);
    if (known !== block) {
      block = known;
      button.textContent = "Copy";
      if (block) button.setAttribute("aria-label", `Copy the ${what(block)}`);
    }
    place();
  }
  // Entries stay as they are: the button is in the page, where they are now.
  function place() {
    if (!block?.isConnected) return button.remove();
    const page = document.querySelector("main");
    const title = block.querySelector(":scope > .title");
    const inner = (title ?? block).getBoundingClientRect();
    const outer = page.getBoundingClientRect();
    button.style.top = `${inner.top - outer.top + (title ? inner.height / 2 - 15 : 0)}px`;
    button.style.right = `${outer.right - inner.right}px`;
    if (button.parentElement !== page) page.append(button);
  }
  async function copy() {
    if (!block) return;
    const text = textOf(block);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      prompt("Copy this:", text); // Only pages of this machine, or with encryption, may use the clipboard.
    }
  }
  button.addEventListener("click", copy);
  document.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType !== "touch") show(target);
  });
  addEventListener("scroll", () => block && place(), { passive: true });
  document.addEventListener("focusin", ({ target }) => show(target));
  document.addEventListener("click", ({ target }) => show(target)); // What was touched.
  addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
    if (key === "c" && !ctrlKey && !metaKey && !altKey && !target.matches("input, select, textarea")) copy();
  });
})();
