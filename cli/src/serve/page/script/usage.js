// The page of the usage: one bar of a chart is reached by Tab, the others by the arrow keys.

function startUsage(charts, asked) {
  for (const chart of charts.querySelectorAll(".bars")) {
    const bars = [...chart.querySelectorAll(".bar:is(a, [tabindex])")];
    const choose = (bar) => bars.forEach((it) => (it.tabIndex = it === bar ? 0 : -1));
    choose(bars.at(-1));
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -bars.length, End: bars.length }[event.key];
      const at = bars.indexOf(document.activeElement);
      if (step === undefined || at < 0) return;
      event.preventDefault();
      const next = bars[Math.max(0, Math.min(bars.length - 1, at + step))];
      choose(next);
      next.focus();
    });
  }
  asked.addEventListener("change", ({ target }) => {
    if (target.localName === "select") asked.requestSubmit();
  });
  // Empty fields are not in the address.
  asked.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
}
