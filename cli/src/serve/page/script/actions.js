// Buttons that copy: a text, or the address of what is shown.

function acting() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const text = button.dataset.copy || location.href;
      try {
        await navigator.clipboard.writeText(text);
        byId("news").textContent = "copied";
        button.querySelector("span").textContent = "Copied";
      } catch {
        prompt("Copy this:", text); // Only pages of this machine, or with encryption, may use the clipboard.
      }
    });
  }
}
