// A link into a closed part opens it. On paper every part is open, and afterwards the screen is as it was.
function unfold(hash) {
  const target = document.getElementById(hash.slice(1)), closed = "details:not([open])";
  for (let part = target?.closest(closed); part; part = part.parentElement.closest(closed)) part.open = true;
  return target;
}
addEventListener("click", (event) => { const link = event.target.closest?.("a[href^='#']"); if (link) unfold(link.hash ?? ""); });
addEventListener("hashchange", () => unfold(location.hash)?.scrollIntoView());
unfold(location.hash)?.scrollIntoView();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open]):not(.screen)")) { part.open = true; part.dataset.printed = "yes"; }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-printed]")) { part.open = false; delete part.dataset.printed; }
});
