// A session: what can be found, and the keys.

function startSession(feed) {
  const session = { feed, path: feed.dataset.session, place: feed.dataset.at }; // the place is epoch:number
  gaps(session);
  changes(session);
  streaming(session);
  following(session);
  timeTravel(session);
  explaining(session);

  let found = { q: "", hits: [], at: -1 };
  byId("find").addEventListener("submit", async (event) => {
    event.preventDefault();
    const q = event.target.q.value.trim();
    if (!q) return;
    if (q !== found.q) {
      const answer = await fetch(`${session.path}/find?${new URLSearchParams({ q })}`);
      found = { q, hits: answer.ok ? await answer.json() : [], at: -1 };
    }
    // What is later than the moment that is shown is not there.
    const hits = found.hits.filter((index) => !session.isPast() || byId(`e${index}`) || session.gapOf(index));
    if (hits.length > 0) {
      found.at = (found.at + 1) % hits.length;
      await session.goTo(hits[found.at]);
      event.target.q.focus({ preventScroll: true });
    }
    byId("news").textContent = hits.length ? `hit ${found.at + 1} of ${hits.length}` : "nothing found";
    byId("state").textContent = byId("news").textContent;
  });

  const focused = () => document.activeElement.closest(".entry");
  Object.assign(keys, {
    l: session.follow,
    n: () => step(".entry[data-bad]", 1),
    p: () => step(".entry[data-bad]", -1),
    "]": () => step(".entry[data-turn]", 1),
    "[": () => step(".entry[data-turn]", -1),
    o: () => focused()?.querySelector(":scope > details > summary")?.click(),
    u: () => focused()?.parentElement.closest(".entry")?.focus(),
    e: () => {
      const entry = focused();
      if (entry) session.explain(entry);
    },
    y: () => {
      const entry = focused();
      if (entry) navigator.clipboard?.writeText(`${location.origin}${location.pathname}${location.search}#${entry.id}`);
    },
  });

  if (location.hash) session.goToHash();
  else if (byId("state").textContent === "running") session.toEnd();
  else if (!session.isPast()) session.live.checked = session.isAtEnd();
  session.watchGaps();
  session.connect(session.place);
}
