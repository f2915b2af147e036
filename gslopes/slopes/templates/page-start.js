// Each part of the page is built when it comes near the window, so that a large report opens at once.
function soon(root, build) {
  let built = false;
  const now = async () => {
    watch.disconnect();
    if (built) return;
    built = true;
    await build().catch((error) => root.replaceChildren(el("p", { class: "none" }, `This part cannot be shown: ${error.message}.`)));
  };
  const watch = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) now(); }, { rootMargin: "600px" });
  watch.observe(root);
  return now;
}

const waiting = [];
for (const section of page.sections) {
  const root = document.getElementById(`app-${section.key}`);
  if (!root) continue;
  let built = null;
  const build = () => (built ??= load(section.key).then((finding) => findingApp(root, section, finding)));
  waiting.push(soon(root, build));
  for (const link of document.querySelectorAll(`a[href="#finding-${section.key}"][data-label]`)) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      unfold(link.hash);
      build().then(() => openers.get(section.key)(Number(link.dataset.label)));
    });
  }
}
// When there is nothing else to do, the tables are built out of sight, so that they can be printed; not thousands of rows.
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 300));
const next = () => waiting.shift()?.().then(() => idle(next));
if (page.sections.reduce((sum, section) => sum + section.labels, 0) <= 2000) addEventListener("load", () => idle(next));
const explorer = document.getElementById("app-explorer");
if (explorer) {
  let built = null;
  const build = () => (built ??= load("photos").then((album) => explorerApp(explorer, album)));
  showPhoto = (photo, attribute) => build().then(() => showPhoto(photo, attribute));
  soon(explorer, build);
}
for (const root of document.querySelectorAll("[data-readings]")) {
  const entry = page.readings[Number(root.dataset.readings)];
  root.replaceChildren(...entry.curves.map((reading) => el("figure", { class: reading.target ? "target" : "" },
    drawn(el("div", {}), (width) => curve(entry.values, reading.mean, reading.low, reading.high, { width, height: 220, yName: reading.unit ? "mean probability" : "mean", title: `Mean reading of ${reading.name} along the sweep`, side: reading.target ? "pos" : "" })),
    el("figcaption", {}, `${reading.name}${reading.target ? ": the target" : ""}`))));
}
