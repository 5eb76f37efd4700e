// What is shown of a session, which its address has, and the other sessions.

function viewing(session) {
  addEventListener("change", ({ target }) => {
    if (target.name !== "show") return;
    const address = new URL(location.href);
    if (target.value === "all") address.searchParams.delete("show");
    else address.searchParams.set("show", target.value);
    history.replaceState(history.state, "", address);
  });

  const others = byId("others");
  others.addEventListener("beforetoggle", async ({ newState }) => {
    if (newState !== "open") return;
    const answer = await fetch(others.dataset.from);
    if (!answer.ok) return;
    others.replaceChildren(parse(await answer.text()));
    others.querySelector(`a[href="${CSS.escape(session.path)}"]`)?.setAttribute("aria-current", "page");
  });

  const look = () => looked.at(session.path);
  addEventListener("pagehide", look);
  document.addEventListener("visibilitychange", look);
  look();
}
