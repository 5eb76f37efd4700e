// Parts of a session, such as those of its sub-agents: a row in the entry of the call that started it. What is in a part
// is loaded when it is opened, and is the same as on its own page.

function parts(session) {
  const { feed } = session;
  const agents = byId("agents");
  let known; // the last parts that the server stated

  async function fill(part) {
    const { path } = part.dataset;
    const answer = await fetch(`${path}/entries?first=0&last=4294967295&at=last`);
    if (!answer.ok) throw new Error(`the part ${path}: ${answer.status}`);
    const entries = parse((await answer.json()).html);
    // Numbers of entries are those of the part, and its links lead to its page.
    for (const element of entries.querySelectorAll("[id]")) element.removeAttribute("id");
    for (const link of entries.querySelectorAll('a[href^="#"], a[href^="?"]')) link.setAttribute("href", path + link.getAttribute("href"));
    for (const image of entries.querySelectorAll('img[src^="?"]')) image.setAttribute("src", path + image.getAttribute("src"));
    part.querySelector(":scope > details > .feed").replaceChildren(entries);
  }

  function put(place, html, old) {
    const part = parse(html).firstElementChild;
    if (!old) return place.append(part);
    if (old.parentElement !== place) place.append(old);
    const line = old.querySelector(":scope > details > summary");
    const has = part.querySelector(":scope > details > summary");
    if (line.innerHTML === has.innerHTML) return;
    const hasFocus = line === document.activeElement;
    old.dataset.state = part.dataset.state;
    line.replaceWith(has);
    if (hasFocus) has.focus({ preventScroll: true });
    if (has.parentElement.open) fill(old).catch(console.error);
  }

  function showParts() {
    if (!known) return;
    byId("whole").replaceChildren(parse(known.whole ?? ""));
    const there = new Map();
    for (const part of document.querySelectorAll(".part:not(.part .part)")) there.set(part.dataset.path, part);
    for (const { call, html } of known.parts) {
      const path = parse(html).firstElementChild.dataset.path;
      const place = call === null ? agents : (byId(`e${call}`) ?? (session.gapOf(call) ? undefined : agents));
      if (place) put(place, html, there.get(path));
      there.delete(path);
    }
    for (const part of there.values()) part.remove();
    agents.hidden = !agents.querySelector(".part");
  }

  function setParts(stated) {
    known = stated;
    showParts();
  }

  // It does not bubble.
  feed.parentElement.addEventListener(
    "toggle",
    ({ target }) => {
      const part = target.open && target.matches(".part > details") ? target.parentElement : undefined;
      if (part)
        fill(part).catch((error) => {
          console.error(error);
          byId("news").textContent = "the agent could not be read";
        });
    },
    true,
  );

  Object.assign(session, { setParts, showParts });
}
