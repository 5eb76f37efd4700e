// The connection: what changes in a session comes as events, in order and without gaps.

const numberOf = (place) => Number(place.split(":")[1]);
const epochOf = (place) => place.split(":")[0];

function streaming(session) {
  const { feed } = session;
  const queue = []; // changes that are not applied yet
  let source;
  let last; // the id of the last event
  let waiting; // where to connect when the page is visible

  function snapshot(html) {
    const focused = document.activeElement.id;
    const place = session.live.checked ? undefined : session.here();
    session.loadedAt.clear();
    feed.replaceChildren(parse(html));
    session.watchGaps();
    if (focused) byId(focused)?.focus({ preventScroll: true });
    if (place) session.scrollToPlace(place);
  }

  function applyAll() {
    if (queue.length === 0) return;
    feed.setAttribute("aria-busy", "true");
    try {
      for (const { type, id, data } of queue.splice(0)) {
        if (type === "snapshot") snapshot(JSON.parse(data));
        else if (epochOf(id) !== epochOf(session.place) || numberOf(id) !== numberOf(session.place) + 1)
          throw new Error(`after ${session.place} came ${id}`);
        else session.apply(numberOf(id), JSON.parse(data));
        session.place = id;
      }
    } catch (error) {
      // An event does not fit: the page is rebuilt from a snapshot.
      console.error(error);
      connect("");
    }
    feed.setAttribute("aria-busy", "false");
    feed.dataset.at = session.place;
    session.showParts();
    if (session.live.checked) {
      session.news = 0;
      session.toEnd();
    }
    session.showBehind();
    byId("news").textContent = session.live.checked ? "" : `${session.news} new entries`;
  }

  let timer;
  function enqueue({ target, type, lastEventId, data }) {
    if (target !== source) return;
    last = lastEventId;
    if (session.isPast()) {
      // The past does not change. New entries are only counted, since the present is fetched again.
      const { place, parent } = type === "fragment" ? JSON.parse(data) : {};
      if (place === "append" && parent === null) session.news += 1;
      return session.showBehind();
    }
    queue.push({ type, id: lastEventId, data });
    // Many changes are drawn at once.
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!session.isPast()) applyAll();
    }, 40);
  }

  function facts({ target, data }) {
    if (target !== source) return;
    const { title, about, side, map, length } = JSON.parse(data);
    session.showMap(map, length);
    tab.setTitle(`${title} · Foldline`);
    byId("crumb").textContent = title;
    if (!session.isPast()) session.showFacts(about, side);
  }

  function related({ target, data }) {
    if (target === source) session.setParts(JSON.parse(data));
  }

  let failures = 0;
  function connect(from) {
    source?.close();
    source = undefined;
    queue.length = 0;
    waiting = document.hidden ? from : undefined;
    if (document.hidden) return;
    const wait = Math.min(30_000, failures === 0 ? 0 : 500 * 2 ** failures);
    if (from === "") failures += 1;
    setTimeout(async () => {
      const isLasting = await lasting.keep();
      source?.close();
      if (document.hidden) {
        waiting = from;
        return;
      }
      source = new EventSource(`${session.path}/fragments?at=${encodeURIComponent(from)}`);
      source.addEventListener("fragment", enqueue);
      source.addEventListener("snapshot", enqueue);
      source.addEventListener("facts", facts);
      source.addEventListener("parts", related);
      source.addEventListener("status", ({ data }) => {
        byId("state").textContent = data;
        tab.setWaiting(data === "waiting" ? 1 : 0);
      });
      // The agent has ended, and with it the server.
      source.addEventListener("end", () => {
        source.close();
        source = undefined;
        showConnection(false);
      });
      source.addEventListener("open", () => setTimeout(() => (failures = 0), 10_000));
      const current = source;
      if (!isLasting) setTimeout(() => source === current && pause(), LOOK / 4);
      watchConnection(
        current,
        () => source === current,
        () => connect(reached()),
      );
      // The status comes as soon as the connection is there again.
      source.addEventListener("error", () => source === current && (byId("state").textContent = "not connected"));
    }, wait);
  }

  // The place after which the next event is expected.
  const reached = () => (session.isPast() ? (last ?? session.place) : session.place);
  function leave() {
    waiting = reached();
    source.close();
    source = undefined;
  }
  // The connection is given to other pages for a while.
  function pause() {
    leave();
    setTimeout(() => waiting !== undefined && connect(waiting), LOOK);
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && source !== undefined) leave();
    else if (!document.hidden && waiting !== undefined) connect(waiting);
  });

  // Connects again for the present, at once, since no error occurred.
  function reconnect() {
    failures = 0;
    connect("");
  }

  Object.assign(session, { connect, reconnect });
}
