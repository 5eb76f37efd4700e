// The list, which is kept up to date, and is requested again when the reader changes a filter.

function startList(list) {
  const filters = byId("filters");
  let asked = 0;
  let drawn = list.innerHTML; // as the server made it

  async function refresh() {
    const query = new URLSearchParams(new FormData(filters));
    const shown = new URLSearchParams(location.search);
    for (const name of ["offset", "limit"]) if (shown.has(name)) query.set(name, shown.get(name));
    const number = ++asked;
    const [answer, sums] = await Promise.all([fetch(`/rows?${query}`), fetch(`/now?${query}`)]);
    if (!answer.ok) throw new Error(`the list: ${answer.status}`);
    const rows = document.createElement("div");
    rows.append(parse(await answer.text()));
    const now = sums.ok && parse(await sums.text()).firstElementChild;
    if (number !== asked) return; // Another question was asked meanwhile.
    if (now) showNow(now);
    if (rows.innerHTML === drawn) return; // Nothing is replaced under the pointer.
    drawn = rows.innerHTML;
    looked.mark(rows);
    const focused = document.activeElement.closest(".rows .w a:not(.sub)")?.getAttribute("href");
    list.replaceChildren(...rows.childNodes);
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  const charts = byId("charts");
  async function draw() {
    const answer = await fetch(charts.dataset.from);
    if (answer.ok) charts.replaceChildren(parse(await answer.text()));
  }
  draw().catch(console.error);

  let typing;
  function change({ target }) {
    const isTyped = target.name === "q";
    asked++; // What was asked before is not drawn any more.
    clearTimeout(typing);
    typing = setTimeout(() => {
      const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
      const address = query.size ? `/?${query}` : "/";
      // Back undoes a choice, not a letter.
      if (isTyped) history.replaceState(null, "", address);
      else history.pushState(null, "", address);
      byId("usage-link").search = query;
      refresh().catch(console.error);
    }, 150);
  }
  filters.addEventListener("input", change);
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    change({ target: filters.elements.q });
  });

  addEventListener("popstate", () => location.reload());

  looked.mark(list);
  tab.setWaiting(Number(byId("now").dataset.asks));

  let source;
  const update = () => refresh().catch(console.error);
  async function follow() {
    const isLasting = !document.hidden && (await lasting.keep());
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else if (!isLasting) {
      update();
      setTimeout(follow, LOOK);
    } else if (source === undefined) {
      source = new EventSource(list.dataset.events);
      source.addEventListener("update", update);
      const current = source;
      watchConnection(
        current,
        () => source === current,
        () => {
          source = undefined;
          follow();
        },
      );
    }
  }
  document.addEventListener("visibilitychange", () => {
    follow();
    if (!document.hidden) update();
  });
  follow();
}
