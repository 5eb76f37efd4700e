// What the pages do in the browser: keys, the list that is kept up to date, and the session that grows.
// Everything works without it too, as a page that stands still.
"use strict";

const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html; // The server has escaped all that comes from a log.
  return template.content;
};

// ---- both pages: appearance and keys ----------------------------------------------------------------

function setTheme(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const input of document.getElementsByName("theme")) input.checked = input.value === (root.dataset.theme ?? "auto");
}
try {
  setTheme(localStorage.getItem("theme"));
} catch {} // Storage may be turned off.

addEventListener("change", ({ target }) => {
  if (target.name === "theme") {
    setTheme(target.value);
    try {
      localStorage.setItem("theme", target.value);
    } catch {}
  }
  if (target.name === "show") root.dataset.show = target.value;
});

const entrySelector = ".entry, .rows .w a";

function step(selector, by) {
  const all = [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
  const here = document.activeElement.closest(entrySelector);
  let at = all.indexOf(here);
  if (at < 0) {
    // Nothing has the focus, or what has it is of another kind: begin at what is on the screen.
    const top = here ? here.getBoundingClientRect().top : 60;
    at = all.findIndex((element) => element.getBoundingClientRect().top >= top);
    if (at < 0) at = all.length - (by > 0 ? 0 : 1);
    else if (by > 0) at -= 1;
  }
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const keys = {
  "?": () => byId("help").togglePopover(),
  "/": () => document.querySelector("[type=search]").focus(),
  j: () => step(entrySelector, 1),
  k: () => step(entrySelector, -1),
};

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape" && target.matches("[type=search]")) target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea")) return;
  if (!Object.hasOwn(keys, key)) return;
  keys[key]();
  event.preventDefault();
});

// ---- the list -----------------------------------------------------------------------------------------

function startList(list) {
  const filters = byId("filters");
  let asked = 0;

  async function refresh() {
    const query = new URLSearchParams(new FormData(filters));
    const page = new URLSearchParams(location.search).get("page");
    if (page) query.set("page", page);
    const number = ++asked;
    const answer = await fetch(`/rows?${query}`);
    if (!answer.ok) throw new Error(`the list: ${answer.status}`);
    const rows = parse(await answer.text());
    if (number !== asked) return; // Another question was asked meanwhile.
    const focused = document.activeElement.closest(".rows .w a")?.getAttribute("href");
    list.replaceChildren(rows);
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  let typing;
  function change() {
    clearTimeout(typing);
    typing = setTimeout(() => {
      const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
      history.replaceState(null, "", query.size ? `/?${query}` : "/");
      refresh().catch(console.error);
    }, 150);
  }
  filters.addEventListener("input", change);
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    change();
  });
  new EventSource(list.dataset.events).addEventListener("update", () => refresh().catch(console.error));
}

// ---- a session ------------------------------------------------------------------------------------------

function startSession(feed) {
  const live = byId("live");
  const behind = byId("behind");
  const queue = []; // changes that are not applied yet
  const loadedAt = new Map(); // entries that came later than the page: the number of the last change in them
  const touched = new WeakSet(); // calls that the reader opened or folded
  let place = feed.dataset.at; // what the page shows, as epoch:number
  let source;
  let news = 0;
  let isLoading = false;

  const numberOf = (place) => Number(place.split(":")[1]);
  const epochOf = (place) => place.split(":")[0];
  const gapOf = (index) =>
    [...feed.querySelectorAll(":scope > .gap")].find(({ dataset }) => index >= +dataset.first && index <= +dataset.last);

  // -- following ------------------------------------------------------------------------------------------

  const isAtEnd = () => innerHeight + scrollY >= root.scrollHeight - 48;
  function toEnd(frames = 3) {
    scrollTo(0, root.scrollHeight);
    // Entries get their height when they are first drawn.
    if (frames > 0) requestAnimationFrame(() => live.checked && toEnd(frames - 1));
  }

  function showBehind() {
    if (live.checked || news === 0) return behind.replaceChildren();
    if (!behind.firstChild) {
      const button = document.createElement("button");
      button.className = "btn";
      button.addEventListener("click", follow);
      behind.append(button);
    }
    behind.firstChild.textContent = `${news} new`;
  }

  function follow() {
    live.checked = true;
    news = 0;
    toEnd();
    showBehind();
  }

  live.addEventListener("change", () => (live.checked ? follow() : showBehind()));
  let lastScroll = scrollY;
  addEventListener(
    "scroll",
    () => {
      // Only who scrolls back stops following: the page also moves when it grows.
      if (scrollY < lastScroll - 2 && !isAtEnd()) live.checked = false;
      else if (isAtEnd()) {
        live.checked = true;
        news = 0;
      }
      lastScroll = scrollY;
      showBehind();
    },
    { passive: true },
  );

  // -- changes --------------------------------------------------------------------------------------------

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
      news += 1;
      return;
    }
    const parent = byId(`e${change.parent}`);
    if (!parent) throw new Error(`entry ${change.parent} is missing, of which ${change.index} is a part`);
    feedWithin(parent).append(article);
  }

  function replace(old, article) {
    const within = old.querySelector(":scope > .call > .body > .feed");
    const had = old.querySelector(":scope > details");
    const has = article.querySelector(":scope > details");
    if (within) feedWithin(article).replaceWith(within);
    if (had && has && (touched.has(had) || within)) {
      has.open = had.open;
      touched.add(has);
    }
    const hasFocus = old === document.activeElement;
    old.replaceWith(article);
    if (hasFocus) article.focus({ preventScroll: true });
  }

  function apply(number, change) {
    if (number <= (loadedAt.get(change.index) ?? 0)) return;
    const old = byId(`e${change.index}`);
    // What is not loaded comes as it is then.
    if (!old && change.root !== null && !byId(`e${change.root}`) && gapOf(change.root)) return;
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

  function snapshot(html) {
    const focused = document.activeElement.id;
    loadedAt.clear();
    feed.replaceChildren(parse(html));
    watchGaps();
    if (focused) byId(focused)?.focus({ preventScroll: true });
  }

  function applyAll() {
    if (queue.length === 0) return;
    feed.setAttribute("aria-busy", "true");
    try {
      for (const { type, id, data } of queue.splice(0)) {
        if (type === "snapshot") snapshot(JSON.parse(data));
        else if (epochOf(id) !== epochOf(place) || numberOf(id) !== numberOf(place) + 1)
          throw new Error(`after ${place} came ${id}`);
        else apply(numberOf(id), JSON.parse(data));
        place = id;
      }
    } catch (error) {
      // Something does not fit: the page is made anew, and nothing is guessed.
      console.error(error);
      queue.length = 0;
      connect("");
    }
    feed.setAttribute("aria-busy", "false");
    feed.dataset.at = place;
    if (live.checked) {
      news = 0;
      toEnd();
    }
    showBehind();
    byId("news").textContent = live.checked ? "" : `${news} new entries`;
  }

  let timer;
  function enqueue({ type, lastEventId, data }) {
    queue.push({ type, id: lastEventId, data });
    // Many changes are drawn at once.
    timer ??= setTimeout(() => {
      timer = undefined;
      applyAll();
    }, 40);
  }

  function facts({ data }) {
    const { title, about, side } = JSON.parse(data);
    document.title = `${title} · Foldline`;
    byId("crumb").textContent = title;
    document.querySelector(".about").replaceWith(parse(about));
    const old = byId("side");
    const has = parse(side).firstElementChild;
    const isOpen = old.matches(":popover-open");
    const scrolled = old.scrollTop;
    old.replaceChildren(...has.childNodes);
    if (isOpen) old.showPopover?.();
    old.scrollTop = scrolled;
  }

  // -- the connection --------------------------------------------------------------------------------------

  let failures = 0;
  function connect(from) {
    source?.close();
    const wait = Math.min(30_000, failures === 0 ? 0 : 500 * 2 ** failures);
    if (from === "") failures += 1;
    setTimeout(() => {
      source?.close();
      source = new EventSource(`${feed.dataset.events}?at=${encodeURIComponent(from)}`);
      source.addEventListener("fragment", enqueue);
      source.addEventListener("snapshot", enqueue);
      source.addEventListener("facts", facts);
      source.addEventListener("status", ({ data }) => (byId("state").textContent = data));
      source.addEventListener("open", () => setTimeout(() => (failures = 0), 10_000));
      source.addEventListener("error", () => {
        const isOver = source.readyState === EventSource.CLOSED;
        byId("state").textContent = isOver ? "not connected: load the page again" : "connecting";
        if (!isOver) source.addEventListener("open", () => (byId("state").textContent = "connected"), { once: true });
      });
    }, wait);
  }

  // -- gaps --------------------------------------------------------------------------------------------------

  async function load(gap, at) {
    if (isLoading || !gap.isConnected) return;
    isLoading = true;
    try {
      for (let attempt = 0; attempt < 5; attempt++) {
        const { first, last } = gap.dataset;
        const answer = await fetch(`${feed.dataset.entries}?first=${first}&last=${last}&at=${at}`);
        if (!answer.ok) throw new Error(`entries ${first} to ${last}: ${answer.status}`);
        const loaded = await answer.json();
        if (!gap.isConnected) return;
        if (epochOf(loaded.place) !== epochOf(place)) return connect("");
        // What was applied meanwhile is not in it: ask again.
        if (numberOf(loaded.place) < numberOf(place)) continue;
        const entries = parse(loaded.html);
        for (const entry of entries.querySelectorAll(".entry")) loadedAt.set(+entry.id.slice(1), numberOf(loaded.place));
        gap.replaceWith(entries);
        watchGaps();
        return;
      }
      connect("");
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
    live.checked = false;
    entry.scrollIntoView({ block: "center" });
    entry.focus({ preventScroll: true });
  }

  function goToHash() {
    const index = /^#e(\d+)$/.exec(location.hash)?.[1];
    if (index !== undefined) goTo(+index).catch(console.error);
  }
  addEventListener("hashchange", goToHash);

  feed.addEventListener("click", (event) => {
    const summary = event.target.closest("summary");
    if (summary) touched.add(summary.parentElement);
    const gap = event.target.closest(".gap a")?.closest(".gap");
    if (!gap) return;
    event.preventDefault();
    load(gap, "first").catch(console.error);
  });

  // -- finding -------------------------------------------------------------------------------------------------

  let found = { q: "", hits: [], at: -1 };
  byId("find").addEventListener("submit", async (event) => {
    event.preventDefault();
    const q = event.target.q.value.trim();
    if (!q) return;
    if (q !== found.q) {
      const answer = await fetch(`${feed.dataset.find}?${new URLSearchParams({ q })}`);
      found = { q, hits: answer.ok ? await answer.json() : [], at: -1 };
    }
    if (found.hits.length > 0) {
      found.at = (found.at + 1) % found.hits.length;
      await goTo(found.hits[found.at]);
      event.target.q.focus({ preventScroll: true });
    }
    byId("news").textContent = found.hits.length ? `hit ${found.at + 1} of ${found.hits.length}` : "nothing found";
    byId("state").textContent = byId("news").textContent;
  });

  // -- keys ------------------------------------------------------------------------------------------------------

  const focused = () => document.activeElement.closest(".entry");
  Object.assign(keys, {
    l: follow,
    n: () => step(".entry[data-bad]", 1),
    p: () => step(".entry[data-bad]", -1),
    "]": () => step(".entry[data-turn]", 1),
    "[": () => step(".entry[data-turn]", -1),
    o: () => focused()?.querySelector(":scope > details > summary")?.click(),
    u: () => focused()?.parentElement.closest(".entry")?.focus(),
    e: () => {
      const entry = focused();
      if (entry) location.assign(`${feed.dataset.explain}?entry=${entry.id.slice(1)}`);
    },
    y: () => {
      const entry = focused();
      if (entry) navigator.clipboard?.writeText(`${location.origin}${location.pathname}#${entry.id}`);
    },
  });

  if (location.hash) goToHash();
  else if (byId("state").textContent === "running") toEnd();
  else live.checked = isAtEnd();
  watchGaps();
  connect(place);
}

root.dataset.script = "on";
if (byId("list")) startList(byId("list"));
if (byId("feed")) startSession(byId("feed"));
