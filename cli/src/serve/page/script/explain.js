// What an entry was made from, at its end. Without script the link asks for the page with it.

function explaining(session) {
  async function explain(entry) {
    const why = entry.querySelector(":scope > .why");
    const old = entry.querySelector(":scope > .explain");
    if (old || why.hasAttribute("aria-busy")) {
      old?.remove();
      why.removeAttribute("aria-current");
      return;
    }
    why.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${session.path}/explain?entry=${entry.id.slice(1)}`);
      if (!answer.ok) throw new Error(`what ${entry.id} was made from: ${answer.status}`);
      const section = parse(await answer.text());
      entry.append(section);
      why.setAttribute("aria-current", "true");
    } catch (error) {
      console.error(error);
      byId("news").textContent = "it could not be read what the entry was made from";
    } finally {
      why.removeAttribute("aria-busy");
    }
  }

  session.feed.addEventListener("click", (event) => {
    const why = event.target.closest(".why");
    if (!why?.parentElement.id || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    explain(why.parentElement);
  });

  session.explain = explain;
}
