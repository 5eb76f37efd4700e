// The list, which is kept up to date, and is requested again when the reader changes a filter.

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
    const rows = document.createElement("div");
    rows.append(parse(await answer.text()));
    if (number !== asked) return; // Another question was asked meanwhile.
    if (rows.innerHTML === list.innerHTML) return; // Nothing is replaced under the pointer.
    const focused = document.activeElement.closest(".rows .w a")?.getAttribute("href");
    list.replaceChildren(...rows.childNodes);
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
