const boxes = [...document.querySelectorAll("select[data-region]")];
const keyOf = (box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region].join(" ");
const byKey = new Map(boxes.map((box) => [keyOf(box), box]));
const memory = browserMemory("gslopes-regions " + byId("photos").dataset.run, {});
const marks = memory.read();
const undone = [];
let unsaved = false;

const count = (more = "") => {
  byId("counts").textContent = boxes.filter((box) => box.value).length + " of " + boxes.length + " regions marked" + more;
  byId("undo").disabled = !undone.length;
};

function mark(box, value) {
  box.value = value;
  box.dataset.before = value;
  marks[keyOf(box)] = value;
  unsaved = true;
  memory.keep(marks);
}

function undo() {
  const last = undone.pop();
  if (!last) return;
  mark(last.box, last.value);
  last.box.focus();
  count();
}

for (const box of boxes) {
  const kept = marks[keyOf(box)];
  if (kept !== undefined && kept !== box.value) { box.value = kept; unsaved = true; }
  box.dataset.before = box.value;
  box.addEventListener("change", () => {
    undone.push({ box, value: box.dataset.before });
    mark(box, box.value);
    count();
  });
}
byId("undo").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
  if (event.key.toLowerCase() === "z" && !typing) undo();
});
byId("load").addEventListener("change", async (event) => {
  const rows = parseCsv(await event.target.files[0].text());
  const known = rows.filter((row) => byKey.has([row.cropper, row.photo, row.region].join(" ")));
  for (const row of known) {
    const box = byKey.get([row.cropper, row.photo, row.region].join(" "));
    undone.push({ box, value: box.value });
    mark(box, row.kind);
    if (row.by) byId("reviewer").value = row.by;
  }
  const other = rows.length - known.length;
  count(!rows.length ? "; the file has no marks" : other ? "; " + other + " marks are of no region on this page" : "");
});
byId("save").addEventListener("click", () => {
  const by = byId("reviewer").value.trim();
  const rows = boxes.filter((box) => box.value).map((box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region, box.value, by]);
  saveCsv([["cropper", "photo", "region", "kind", "by"], ...rows]);
  unsaved = false;
});
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
count();
