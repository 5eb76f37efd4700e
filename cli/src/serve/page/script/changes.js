// Changes of a session, put into the page.

function changes(session) {
  const { feed } = session;
  const touched = new WeakSet(); // calls that the reader opened or folded

  function feedWithin(article) {
    const body = article.querySelector(":scope > .call > .body");
    if (!body) throw new Error(`entry ${article.id} has no place for others`);
    let within = body.querySelector(":scope > .feed");
    if (!within) {
      within = document.createElement("div");
      within.className = "feed";
      body.insertBefore(within, body.querySelector(":scope > .answer"));
    }
    return within;
  }

  function append(change, article) {
    if (change.parent === null) {
      feed.append(article);
      session.news += 1;
      return;
    }
    const parent = byId(`e${change.parent}`);
    if (!parent) throw new Error(`entry ${change.parent} is missing, of which ${change.index} is a part`);
    feedWithin(parent).append(article);
  }

  // What the reader opened, folded or asked for stays so.
  function keepOpen(old, article, always) {
    const explanation = old.querySelector(":scope > .explain");
    if (explanation) {
      article.append(explanation);
      article.querySelector(":scope > .why").setAttribute("aria-current", "true");
    }
    for (const part of old.querySelectorAll(":scope > .part")) {
      article.querySelector(`:scope > .part[data-path="${CSS.escape(part.dataset.path)}"]`)?.remove();
      article.append(part);
    }
    const had = old.querySelector(":scope > details");
    const has = article.querySelector(":scope > details");
    if (had && has && (touched.has(had) || always)) {
      has.open = had.open;
      touched.add(has);
    }
  }

  function replace(old, article) {
    const within = old.querySelector(":scope > .call > .body > .feed");
    if (within) feedWithin(article).replaceWith(within);
    keepOpen(old, article, within);
    const hasFocus = old === document.activeElement;
    old.replaceWith(article);
    if (hasFocus) article.focus({ preventScroll: true });
  }

  function apply(number, change) {
    if (number <= (session.loadedAt.get(change.index) ?? 0)) return;
    const old = byId(`e${change.index}`);
    // What is not loaded comes as it is then.
    if (!old && change.root !== null && !byId(`e${change.root}`) && session.gapOf(change.root)) return;
    if (change.place === "append") {
      if (old) throw new Error(`entry ${change.index} is there already`);
      append(change, parse(change.html).firstElementChild);
    } else if (!old) {
      throw new Error(`entry ${change.index} is missing`);
    } else if (change.place === "replace") {
      replace(old, parse(change.html).firstElementChild);
    } else if (change.place === "grow") {
      const grows = old.querySelector(".grows");
      if (!grows) throw new Error(`entry ${change.index} does not grow`);
      grows.append(parse(change.html));
    } else {
      throw new Error(`unknown change ${change.place}`);
    }
  }

  // The facts above and beside the entries; those beside may be left as they are.
  function showFacts(about, side) {
    document.querySelector(".about").replaceWith(parse(about));
    if (side === null) return;
    const old = byId("side");
    const has = parse(side).firstElementChild;
    const isOpen = old.matches(":popover-open");
    const scrolled = old.scrollTop;
    old.replaceChildren(...has.childNodes);
    if (isOpen) old.showPopover?.();
    old.scrollTop = scrolled;
  }

  feed.addEventListener("click", ({ target }) => {
    const summary = target.closest("summary");
    if (summary) touched.add(summary.parentElement);
  });

  Object.assign(session, { apply, keepOpen, showFacts });
}
