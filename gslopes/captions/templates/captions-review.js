const data = JSON.parse(document.getElementById("page-data").textContent);
const items = data.items;
const COLUMNS = ["case", "answer", "reviewer", "note"];
const ANSWERS = { h: "harm", n: "not-a-harm", p: "parser", t: "truth", u: "unsure" };
const known = new Set(Object.values(ANSWERS));
let place = 0;
let unsaved = false;
let shown = false;

const answers = new Map();
const keyOf = (row) => row.case + "\u0000" + row.reviewer;
const put = (row) => answers.set(keyOf(row), row);
data.answers.forEach(put);
const memory = browserMemory("gslopes-captions " + items.map((item) => item.case.slice(0, 6)).join("").slice(0, 3000) + items.length, []);
for (const row of memory.read()) { put(row); unsaved = true; }
const keep = () => { unsaved = true; memory.keep([...answers.values()]); };

const reviewer = () => byId("reviewer").value.trim();
const current = () => answers.get(items[place].case + "\u0000" + reviewer());

function answer(name) {
  const row = current() || { case: items[place].case, answer: "", reviewer: reviewer(), note: "" };
  put({ ...row, answer: name, note: byId("note").value });
  keep();
  if (place < items.length - 1) move(1); else show();
}

function move(step) {
  place = Math.max(0, Math.min(items.length - 1, place + step));
  shown = false;
  show();
}

function show() {
  const done = [...answers.values()].filter((row) => row.reviewer === reviewer() && row.answer).length;
  byId("counts").textContent = done + " answered";
  byId("saved").textContent = unsaved ? "not saved" : "saved";
  if (!items.length) { byId("place").textContent = "no case"; byId("review").hidden = true; return; }
  const item = items[place];
  const row = current();
  byId("place").textContent = (place + 1) + " of " + items.length;
  for (const name of ["harm", "technique", "rule", "word", "concept", "group", "stage", "text"]) byId(name).textContent = item[name];
  byId("truth").textContent = item.truth;
  byId("file").textContent = item.src ? item.image : item.image + " (no photo linked)";
  const photo = byId("photo");
  if (photo.getAttribute("src") !== item.src) {
    if (item.src) photo.setAttribute("src", item.src); else photo.removeAttribute("src");
  }
  photo.hidden = !item.src;
  byId("frame").hidden = !item.src;
  byId("frame").classList.toggle("shown", shown);
  byId("answer").textContent = row ? row.answer : "none yet";
  byId("note").value = row ? row.note : "";
  for (const button of document.querySelectorAll("button[data-key]")) {
    const key = button.dataset.key;
    if (key in ANSWERS) button.setAttribute("aria-pressed", String(Boolean(row) && row.answer === ANSWERS[key]));
    if (key === "b") button.setAttribute("aria-pressed", String(shown));
  }
}

function save() {
  saveCsv([COLUMNS, ...[...answers.values()].map((row) => COLUMNS.map((name) => row[name] || ""))]);
  unsaved = false;
  show();
}

byId("load").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  for (const row of parseCsv(await file.text())) {
    if (known.has(row.answer)) put(Object.fromEntries(COLUMNS.map((name) => [name, row[name] || ""])));
  }
  keep();
  show();
});

function press(key) {
  if (!items.length && key !== "s") return;
  if (key in ANSWERS) answer(ANSWERS[key]);
  else if (key === "arrowright") move(1);
  else if (key === "arrowleft") move(-1);
  else if (key === "b") { shown = !shown; show(); }
  else if (key === "s") save();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const key = event.key.toLowerCase();
  if (key in ANSWERS || ["arrowleft", "arrowright", "b", "s"].includes(key)) { event.preventDefault(); press(key); }
});
for (const button of document.querySelectorAll("button[data-key]")) button.addEventListener("click", () => press(button.dataset.key));
byId("reviewer").addEventListener("change", show);
byId("note").addEventListener("change", () => { const row = current(); if (row) { put({ ...row, note: byId("note").value }); keep(); show(); } });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
show();
