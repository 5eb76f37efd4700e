// Keys. A page adds its own to those that all have.

const entrySelector = ".entry, .rows .w a:not(.sub)";

function step(selector, by) {
  const all = [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
  const here = document.activeElement.closest(entrySelector);
  let at = all.indexOf(here);
  if (at < 0) {
    // Nothing has the focus, or what has it is of another kind: begin at what is on the screen.
    const top = here ? here.getBoundingClientRect().top : 60;
    at = all.findIndex((element) => element.getBoundingClientRect().top >= top);
    if (at < 0) at = all.length - (by > 0 ? 0 : 1);
    else if (by > 0) at -= 1;
  }
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const keys = {
  "?": () => byId("help").togglePopover(),
  "/": () => document.querySelector("[type=search]").focus(),
  j: () => step(entrySelector, 1),
  k: () => step(entrySelector, -1),
};

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape" && target.matches("[type=search]")) target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not([type=range]), select, textarea")) return;
  if (!Object.hasOwn(keys, key)) return;
  keys[key]();
  event.preventDefault();
});
