// What the pages do in the browser: keys, the list that is kept up to date, the session that grows and is played.
// Everything works without it too, as a page that stands still. The files of this folder are one script.
"use strict";

const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html; // The server has escaped all that comes from a log.
  return template.content;
};

function setTheme(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const input of document.getElementsByName("theme")) input.checked = input.value === (root.dataset.theme ?? "auto");
}
try {
  setTheme(localStorage.getItem("theme"));
} catch {} // Storage may be turned off.

addEventListener("change", ({ target }) => {
  if (target.name === "theme") {
    setTheme(target.value);
    try {
      localStorage.setItem("theme", target.value);
    } catch {}
  }
  if (target.name === "show") root.dataset.show = target.value;
});
