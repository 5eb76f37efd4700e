// Gaps: entries of a long session that are not loaded, until the reader comes to them.

function gaps(session) {
  const { feed } = session;
  let isLoading = false;

  session.loadedAt = new Map(); // entries that came later than the page: the number of the last change in them
  const gapOf = (index) =>
    [...feed.querySelectorAll(":scope > .gap")].find(({ dataset }) => index >= +dataset.first && index <= +dataset.last);

  async function ask(gap, at) {
    const { first, last } = gap.dataset;
    const question = new URLSearchParams({ first, last, at });
    if (session.isPast()) question.set("moment", session.moment);
    const answer = await fetch(`${session.path}/entries?${question}`);
    if (!answer.ok) throw new Error(`entries ${first} to ${last}: ${answer.status}`);
    return answer.json();
  }

  async function load(gap, at) {
    if (isLoading || !gap.isConnected) return;
    isLoading = true;
    try {
      for (let attempt = 0; attempt < 5; attempt++) {
        const loaded = await ask(gap, at);
        if (!gap.isConnected) return;
        const entries = parse(loaded.html);
        if (!session.isPast()) {
          if (epochOf(loaded.place) !== epochOf(session.place)) return session.connect("");
          // What was applied meanwhile is not in it: ask again.
          if (numberOf(loaded.place) < numberOf(session.place)) continue;
          for (const entry of entries.querySelectorAll(".entry")) session.loadedAt.set(+entry.id.slice(1), numberOf(loaded.place));
        }
        gap.replaceWith(entries);
        watchGaps();
        return;
      }
      session.connect("");
    } finally {
      isLoading = false;
    }
  }

  const watcher = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target, boundingClientRect } of seen) {
      // Who comes from below reads on at the end of the gap.
      if (isIntersecting) load(target, boundingClientRect.top < innerHeight / 3 && scrollY > 0 ? "last" : "first").catch(console.error);
    }
  });
  function watchGaps() {
    watcher.disconnect();
    for (const gap of feed.querySelectorAll(":scope > .gap")) watcher.observe(gap);
  }

  async function goTo(index) {
    const gap = byId(`e${index}`) ? undefined : gapOf(index);
    if (gap) await load(gap, index);
    const entry = byId(`e${index}`);
    if (!entry) return;
    for (let outer = entry.parentElement.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
    session.live.checked = false;
    entry.scrollIntoView({ block: "center" });
    entry.focus({ preventScroll: true });
  }

  function goToHash() {
    const index = /^#e(\d+)$/.exec(location.hash)?.[1];
    if (index !== undefined) goTo(+index).catch(console.error);
  }
  addEventListener("hashchange", goToHash);

  feed.addEventListener("click", (event) => {
    const gap = event.target.closest(".gap a")?.closest(".gap");
    if (gap?.parentElement !== feed) return;
    event.preventDefault();
    load(gap, "first").catch(console.error);
  });

  Object.assign(session, { gapOf, goTo, goToHash, watchGaps });
}
