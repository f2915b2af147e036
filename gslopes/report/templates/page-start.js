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
  if (root) waiting.push(soon(root, () => load(section.key).then((own) => findingApp(root, section, own))));
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
  root.replaceChildren(...entry.curves.map((own) => el("figure", { class: own.target ? "target" : "" },
    curve(entry.values, own.mean, own.low, own.high, { yName: own.unit ? "mean probability" : "mean", title: `Mean reading of ${own.name} along the sweep`, side: own.target ? "pos" : "", height: 220, width: 340 }),
    el("figcaption", {}, `${own.name}${own.target ? ": the target" : ""}`))));
}
for (const root of document.querySelectorAll("[data-likeness]")) {
  const { values, likeness: own } = page.readings[Number(root.dataset.likeness)];
  root.replaceChildren(el("figure", {},
    curve(values, own.mean, own.low, own.high, { yName: "cosine with the centre", title: "Likeness of the face to its own centre picture along the sweep", side: "pos", floor: own.two, height: 240, width: 480 }),
    el("figcaption", {}, own.two ? "Each face beside its own centre picture, with the 95 % interval over photos. Grey: the centre pictures of two people." : "Each face beside its own centre picture, with the 95 % interval over photos.")));
}
