// Following: the page stays at the end of a session that grows, as long as the reader is there.

function following(session) {
  const live = byId("live");
  const behind = byId("behind");
  let settles = 0; // until then, the end moves without news
  session.news = 0; // entries that came and were not seen

  const isAtEnd = () => innerHeight + scrollY >= root.scrollHeight - 48;

  function toEnd(frames = 3) {
    settles = performance.now() + 3000;
    scrollTo(0, root.scrollHeight);
    // Entries get their height when they are first drawn.
    if (frames > 0) requestAnimationFrame(() => (live.checked || session.isPast()) && toEnd(frames - 1));
  }

  function showBehind() {
    if (live.checked || session.news === 0) return behind.replaceChildren();
    if (!behind.firstChild) {
      const button = document.createElement("button");
      button.className = "btn";
      button.addEventListener("click", follow);
      behind.append(button);
    }
    behind.firstChild.textContent = `${session.news} new`;
  }

  function follow() {
    live.checked = true;
    session.news = 0;
    if (session.isPast()) session.toPresent();
    else toEnd();
    showBehind();
  }

  live.addEventListener("change", () => (live.checked ? follow() : showBehind()));
  let lastScroll = scrollY;
  addEventListener(
    "scroll",
    () => {
      const back = scrollY < lastScroll - 2;
      lastScroll = scrollY;
      if (session.isPast()) return;
      // Only who scrolls back stops following: the page also moves when it grows.
      if (back && !isAtEnd()) live.checked = false;
      else if (isAtEnd()) {
        live.checked = true;
        session.news = 0;
      }
      showBehind();
    },
    { passive: true },
  );

  // Entries get their height when they are first drawn, which may take many frames. What the reader opens does not move.
  new ResizeObserver(() => {
    if (live.checked && !session.isPast() && performance.now() < settles) scrollTo(0, root.scrollHeight);
  }).observe(session.feed);
  session.feed.addEventListener("click", () => (settles = 0));

  Object.assign(session, { live, isAtEnd, toEnd, showBehind, follow });
}
