// The list, which is kept up to date, and is requested again when the reader changes a filter.

function startList(list) {
  const filters = byId("filters");
  let asked = 0;

  async function refresh() {
    const query = new URLSearchParams(new FormData(filters));
    const shown = new URLSearchParams(location.search);
    for (const name of ["offset", "limit"]) if (shown.has(name)) query.set(name, shown.get(name));
    const number = ++asked;
    const answer = await fetch(`/rows?${query}`);
    if (!answer.ok) throw new Error(`the list: ${answer.status}`);
    const rows = document.createElement("div");
    rows.append(parse(await answer.text()));
    if (number !== asked) return; // Another question was asked meanwhile.
    if (rows.innerHTML === list.innerHTML) return; // Nothing is replaced under the pointer.
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
