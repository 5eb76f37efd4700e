// The place of the reader, which stays when the page is loaded again, and when its entries are replaced.

function places(session) {
  const { feed } = session;
  const key = `place ${location.pathname}`;
  const top = 60; // what is above is behind the header

  // The first entry on the screen, and where it begins there.
  function here() {
    const entry = [...feed.querySelectorAll(":scope > .entry")].find((entry) => entry.getBoundingClientRect().bottom > top);
    return entry && { index: +entry.id.slice(1), top: entry.getBoundingClientRect().top };
  }

  function scrollTo(place, frames = 5) {
    const entry = byId(`e${place.index}`);
    if (!entry) return;
    scrollBy(0, entry.getBoundingClientRect().top - place.top);
    // Entries get their height when they are first drawn.
    if (frames > 0) requestAnimationFrame(() => scrollTo(place, frames - 1));
  }

  async function goBack(place) {
    session.live.checked = false;
    if (!byId(`e${place.index}`)) await session.goTo(place.index);
    scrollTo(place);
  }

  // A page that was only left and opened again is read from its end.
  function kept() {
    const [{ type } = {}] = performance.getEntriesByType("navigation");
    if (type !== "reload" && type !== "back_forward") return undefined;
    try {
      return JSON.parse(sessionStorage.getItem(key)) ?? undefined;
    } catch {} // Storage may be turned off.
  }

  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => {
    const place = session.isPast() ? null : { isAtEnd: session.live.checked, ...here() };
    try {
      sessionStorage.setItem(key, JSON.stringify(place));
    } catch {}
  });

  Object.assign(session, { here, scrollToPlace: scrollTo, goBack, kept });
}
