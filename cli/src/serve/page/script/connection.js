// The connection to the server: a page that cannot hear of changes says so, and tries again by itself.

const RETRY = 3000; // milliseconds, as browsers wait

function showConnection(isLost) {
  const note = byId("lost");
  if (!isLost) return note?.remove();
  if (note) return;
  const lost = document.createElement("p");
  lost.id = "lost";
  lost.setAttribute("role", "status");
  lost.textContent = "Connection lost, trying again";
  document.body.append(lost);
}

// A browser has six connections to a server for all its pages: four pages keep one, and other visible pages look from
// time to time. Pages that are not visible have none.
const LOOK = 2000; // milliseconds between two looks
const lasting = (() => {
  const most = 4;
  let release;
  const take = (number) =>
    new Promise((done) => {
      const held = (lock) => {
        done(lock !== null);
        return lock && new Promise((resolve) => (release = resolve));
      };
      navigator.locks.request(`connection-${number}`, { ifAvailable: true }, held).catch(() => done(false));
    });

  // Whether this page may keep a connection, until it is hidden. Locks are only there on secure origins, as localhost.
  async function keep() {
    if (release || !navigator.locks) return true;
    for (let number = 0; number < most; number++) if (await take(number)) return true;
    return false;
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    release?.();
    release = undefined;
  });
  return { keep };
})();

// Watches a stream of events. The browser connects again unless the server refused; then `again` has to.
function watchConnection(source, isCurrent, again) {
  source.addEventListener("open", () => isCurrent() && showConnection(false));
  source.addEventListener("error", () => {
    if (!isCurrent()) return;
    showConnection(true);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => isCurrent() && again(), RETRY);
  });
}
