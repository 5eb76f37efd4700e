// What a table of contents does in a file: it shows the sessions that have all words of the field.
"use strict";

(() => {
  const form = document.getElementById("filters");
  const field = form.querySelector("input");
  const rows = [...document.querySelectorAll(".rows tbody tr:not(.day)")];
  const texts = rows.map((row) => `${row.textContent} ${row.dataset.words}`.toLowerCase());
  const shown = document.getElementById("shown");

  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word));
      if (!row.hidden) count += 1;
    });
    for (const day of document.querySelectorAll(".rows tbody")) day.hidden = !day.querySelector("tr:not(.day):not([hidden])");
    shown.textContent = words.length ? `${count} of ${rows.length}` : "";
  }
  field.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== field && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });
  filter(); // A browser may have kept the words.
})();
