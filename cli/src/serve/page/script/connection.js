// The connection to the server: a page that cannot hear of changes says so, and tries again by itself.

const RETRY = 3000; // milliseconds, as browsers wait

function showConnection(isLost) {
  const note = byId("lost");
  if (!isLost) return note?.remove();
  if (note) return;
  const lost = document.createElement("p");
  lost.id = "lost";
  lost.setAttribute("role", "status");
  lost.textContent = "Connection lost, trying again";
  document.body.append(lost);
}

// Watches a stream of events. The browser connects again unless the server refused; then `again` has to.
function watchConnection(source, isCurrent, again) {
  source.addEventListener("open", () => isCurrent() && showConnection(false));
  source.addEventListener("error", () => {
    if (!isCurrent()) return;
    showConnection(true);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => isCurrent() && again(), RETRY);
  });
}
