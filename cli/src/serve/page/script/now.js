// What is going on: above the list, in the tab of the browser, and what is new since somebody looked.

const tab = (() => {
  const icon = document.querySelector('link[rel="icon"]');
  let { title } = document;
  let waiting = 0; // sessions that wait for a person
  function draw() {
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
    icon.href = waiting > 0 ? "/icon-waiting.svg" : "/icon.svg";
  }
  return {
    setTitle(text) {
      title = text;
      draw();
    },
    setWaiting(count) {
      waiting = count;
      draw();
    },
  };
})();

// When each session was last looked at, in milliseconds since 1970. What is older than the first look is not new.
const looked = (() => {
  const most = 1000;
  function read() {
    try {
      const times = JSON.parse(localStorage.getItem("looked"));
      if (times?.since) return times;
    } catch {} // Storage may be turned off.
    return { since: Date.now() };
  }
  function write(times) {
    const latest = Object.entries(times).sort(([, a], [, b]) => b - a);
    try {
      localStorage.setItem("looked", JSON.stringify({ ...Object.fromEntries(latest.slice(0, most)), since: times.since }));
    } catch {}
  }
  return {
    at(path) {
      const times = read();
      if (path !== "since") write({ ...times, [path]: Date.now() });
    },
    mark(list) {
      const times = read();
      write(times);
      for (const row of list.querySelectorAll("tr[data-written]")) {
        const link = row.querySelector(".w > a:not(.sub)");
        if (Number(row.dataset.written) <= Math.max(times.since, times[link.getAttribute("href")] ?? 0)) continue;
        const fresh = document.createElement("small");
        fresh.className = "fresh";
        fresh.textContent = "new";
        link.before(fresh);
      }
    },
  };
})();

// The sums above the list, and the counts of its choices.
function showNow(now) {
  byId("now").replaceWith(now);
  tab.setWaiting(Number(now.dataset.asks));
  for (const input of document.getElementsByName("status")) {
    const count = input.parentElement.querySelector("small");
    if (count) count.textContent = now.dataset[input.value || "all"];
  }
}
