// A session: its parts, and the keys.

function startSession(feed) {
  const session = { feed, path: feed.dataset.session, place: feed.dataset.at }; // the place is epoch:number
  gaps(session);
  changes(session);
  parts(session);
  streaming(session);
  following(session);
  places(session);
  timeTravel(session);
  explaining(session);

  finding(session);
  viewing(session);
  acting();

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
      if (entry?.id) session.explain(entry);
    },
    y: () => {
      const entry = focused();
      if (entry?.id) navigator.clipboard?.writeText(`${location.origin}${location.pathname}${location.search}#${entry.id}`);
    },
  });

  const kept = session.isPast() ? undefined : session.kept();
  if (kept && !kept.isAtEnd && kept.index !== undefined) session.goBack(kept).catch(console.error);
  else if (kept?.isAtEnd) session.toEnd();
  else if (location.hash) session.goToHash();
  else if (["running", "waiting"].includes(byId("state").textContent)) session.toEnd();
  else if (!session.isPast()) session.live.checked = session.isAtEnd();
  session.watchGaps();
  session.connect(session.place);
}
