// Every review: items that a person answers by keys, buttons or lists, one at a time or all on one page. `data` says
// what the answers are (report/review.py); they are kept by the browser, read from a CSV and saved as one.
const byId = (id) => document.getElementById(id);
const given = JSON.parse(byId("page-data").textContent);
const usual = { id: given.copied, others: false, resets: null, untold: [], names: {}, noun: "Photo", keys: {}, values: {}, reviewer: "" };
const data = { ...usual, ...given };
const { items, columns, keys } = data;
const single = byId("photo") !== null; // one item at a time
const said = columns.filter((name) => !data.copied.includes(name) && name !== data.reviewer); // what a person says

// -- CSV

// A cell that a spreadsheet would take for a formula is written as text; a reader takes one apostrophe away again.
const FORMULA = /^'*[ \u00a0]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
function csvCell(text) {
  const plain = FORMULA.test(text) ? "'" + text : text;
  return /[",\r\n]|^\s|\s$/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
}

// Rows of a CSV as objects of its head; quoted cells may hold commas, quotes and line breaks. Throws what is wrong.
function parseCsv(text) {
  const rows = [[""]];
  let quoted = false;
  text = text.replace(/^\ufeff/, "");
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at], row = rows[rows.length - 1];
    if (quoted && char === '"' && text[at + 1] === '"') { row[row.length - 1] += '"'; at += 1; }
    else if (char === '"' && (quoted || row[row.length - 1] === "")) quoted = !quoted;
    else if (!quoted && char === ",") row.push("");
    else if (!quoted && char === "\n") rows.push([""]);
    else if (quoted || char !== "\r") row[row.length - 1] += char;
  }
  const [head, ...cells] = rows.filter((row) => row.length > 1 || row[0]);
  const lacking = [...data.id, said[0]].filter((name) => !(head || []).includes(name));
  if (quoted) throw new Error("a quotation mark is never closed");
  if (lacking.length) throw new Error("it has no column " + lacking[0]);
  if (new Set(head).size < head.length) throw new Error("a column stands there twice");
  return cells.map((row, at) => {
    if (row.length !== head.length) throw new Error("row " + (at + 1) + " has another number of cells");
    const cell = (name) => (row[head.indexOf(name)] ?? "").replace(/^'(?='*[ \u00a0]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/, "");
    const found = Object.fromEntries(columns.map((name) => [name, cell(name)]));
    for (const [name, known] of Object.entries(data.values)) {
      if (!known.includes(found[name]) && found[name]) throw new Error("row " + (at + 1) + ": " + name + " is " + found[name].slice(0, 40));
    }
    return found;
  });
}

// -- answers: by the columns that name an item (and its reviewer)

let answers = new Map(), place = 0, blurred = true, message = "";
const undone = []; // what to put back: [all answers, the place]
const keyOf = (row) => JSON.stringify(data.id.map((name) => row[name]));
const put = (row) => answers.set(keyOf(row), row);
const reviewer = () => byId("reviewer")?.value.trim() ?? "";
const fresh = (item) => Object.fromEntries(columns.map((name) => [name, name === data.reviewer ? reviewer() : data.copied.includes(name) ? item[name] : ""]));
const rowOf = (item) => answers.get(keyOf(fresh(item)));
const matches = (row, cells) => Object.entries(cells).every(([name, value]) => (value === "*" ? row[name] !== "" : row[name] === value));
const decided = (item) => { const row = rowOf(item); return row !== undefined && data.done.some((cells) => matches(row, cells)); };
const rows = () => [...answers.values()].filter((row) => said.some((name) => row[name]));
const snapshot = () => JSON.stringify(rows().map((row) => columns.map((name) => row[name])).sort());

data.answers.forEach(put);
let filed = snapshot(); // as it stands in a file
const unsaved = () => snapshot() !== filed;

function remember(also) {
  if (undone.at(-1)?.also !== also || !also) undone.push({ answers: new Map(answers), place, also });
  if (undone.length > 100) undone.shift();
}

function set(item, cells, also) {
  remember(also);
  const row = rowOf(item);
  const again = row && data.resets && matches(row, data.resets);
  put({ ...(row && !again ? row : fresh(item)), ...(reviewer() ? { [data.reviewer]: reviewer() } : {}), ...cells });
  keep();
}

function undo() {
  const last = undone.pop();
  if (!last) return;
  ({ answers, place } = last);
  keep();
  show();
  focus();
}

// -- the browser's memory: of this page's folder and of what is reviewed, as long as the file is the one it began with

const memory = "gslopes review " + data.key + " " + location.pathname;
function keep() {
  message = "";
  try { localStorage.setItem(memory, JSON.stringify({ base: data.base, saved: !unsaved(), rows: rows() })); } catch (error) { /* not every browser lets pages from the disk */ }
}
let kept = null;
try { kept = JSON.parse(localStorage.getItem(memory)); } catch (error) { /* nothing kept */ }
const take = (found) => { answers = new Map(); found.forEach(put); };
const isRow = (row) => row && columns.every((name) => typeof row[name] === "string");
if (!Array.isArray(kept?.rows) || !kept.rows.every(isRow)) kept = null;
if (kept && kept.base === data.base) {
  take(kept.rows);
  if (kept.saved) filed = snapshot();
  kept = null;
} else if (kept && kept.saved) kept = null; // they went into a file: this page's is as new or newer

// -- files

function save() {
  for (const row of rows()) if (data.reviewer && !row[data.reviewer] && !data.id.includes(data.reviewer)) put({ ...row, [data.reviewer]: reviewer() });
  const lines = [columns, ...rows().map((row) => columns.map((name) => row[name]))].map((cells) => cells.map(csvCell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  link.download = "review.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  filed = snapshot();
  keep();
  show();
}

async function load(file) {
  let found;
  try { found = parseCsv(await file.text()); } catch (error) {
    message = "nothing was read: " + error.message;
    return show();
  }
  const here = new Set(items.map((item) => JSON.stringify(data.copied.map((name) => item[name]))));
  const known = found.filter((row) => data.others || here.has(JSON.stringify(data.copied.map((name) => row[name]))));
  remember();
  const clean = !rows().length;
  known.forEach(put);
  if (byId("reviewer") && !reviewer()) byId("reviewer").value = known.find((row) => row[data.reviewer])?.[data.reviewer] ?? "";
  if (clean && known.length === found.length) filed = snapshot();
  keep();
  const lost = found.length - known.length;
  message = known.length + " answers read" + (lost ? ", " + lost + " are about nothing on this page" : "");
  show();
}

// -- the page

const elements = [...document.querySelectorAll("[data-item]")]; // where all are on one page
const focus = () => (elements[place]?.querySelector("select") ?? elements[place])?.focus();
const setOf = (key, item) => keys[key]?.set ?? item[keys[key]?.from];
const answered = (row) => said.filter((name) => !data.untold.includes(name)).map((name) => data.names[row[name]] ?? row[name]).filter(Boolean);

function showAnswer(item, within) {
  const row = rowOf(item);
  for (const button of within.querySelectorAll("button[data-key]")) {
    const cells = setOf(button.dataset.key, item);
    if (cells) button.setAttribute("aria-pressed", String(row !== undefined && matches(row, cells)));
  }
  for (const input of within.querySelectorAll("[data-column]")) input.value = row?.[input.dataset.column] ?? "";
  return row;
}

function showSingle() {
  const item = items[place];
  const row = showAnswer(item, byId("review"));
  for (const one of document.querySelectorAll("[data-field]")) one.textContent = item[one.dataset.field];
  const photo = byId("photo"), frame = byId("frame");
  if (photo.getAttribute("src") !== item.src) { if (item.src) photo.src = item.src; else photo.removeAttribute("src"); }
  photo.alt = item.alt ?? "";
  photo.hidden = frame.hidden = !item.src;
  frame.classList.toggle("shown", !blurred);
  for (const button of document.querySelectorAll("button[data-key=b]")) button.setAttribute("aria-pressed", String(!blurred));
  if (item.box) {
    const [left, top, right, bottom] = item.box.map((end) => Math.min(1, Math.max(0, end)));
    Object.assign(byId("box").style, { left: 100 * left + "%", top: 100 * top + "%", width: 100 * (right - left) + "%", height: 100 * (bottom - top) + "%" });
  }
  if (/^https?:\/\//.test(item.page ?? "")) {
    const link = document.createElement("a");
    Object.assign(link, { href: item.page, rel: "noreferrer noopener", textContent: item.page });
    byId("credit").append(item.credit ? " · " : "", link);
  }
  byId("answer").textContent = row && answered(row).length ? answered(row).join(", ") : "none yet";
  byId("place").textContent = data.noun + " " + (place + 1) + " of " + items.length;
}

function showItem(index) {
  elements[index].dataset.answer = showAnswer(items[index], elements[index])?.[said[0]] ?? "";
}

function show(index) {
  if (single) showSingle();
  else if (index === undefined) items.forEach((item, at) => showItem(at));
  else showItem(index);
  byId("counts").textContent = items.filter(decided).length + " of " + items.length + " decided";
  byId("saved").textContent = message || (unsaved() ? "not saved to a file yet" : "all saved");
  byId("undo").disabled = !undone.length;
  byId("kept").hidden = kept === null;
}

function move(to) {
  place = Math.max(0, Math.min(items.length - 1, to));
  blurred = true;
  focus();
}

function answer(key) {
  const at = place;
  set(items[at], setOf(key, items[at]));
  if (keys[key].next && place < items.length - 1) move(place + 1);
  show(single ? undefined : at);
}

function press(key) {
  if (key === "s") save();
  else if (key === "z") undo();
  else if (key in keys) answer(key);
  else if (!single) return false;
  else if (key === "arrowleft") { move(place - 1); show(); }
  else if (key === "arrowright") { move(place + 1); show(); }
  else if (key === "b") { blurred = !blurred; show(); }
  else if (key === "g") {
    const open = items.map((item, at) => at).filter((at) => !decided(items[at]));
    move(open.find((at) => at > place) ?? open[0] ?? place);
    show();
  } else return false;
  return true;
}

const placeOf = (element) => elements.indexOf(element.closest("[data-item]"));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
  if (event.key.length > 1 && !event.key.startsWith("Arrow")) return; // Enter and Tab belong to buttons
  const key = event.key.toLowerCase();
  if (!single && key in keys) { place = placeOf(event.target); if (place < 0) { place = 0; return; } }
  if (press(key)) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-key]");
  if (!button) return;
  if (!single && button.dataset.key in keys) place = placeOf(button);
  const next = keys[button.dataset.key]?.next && !single;
  press(button.dataset.key);
  if (next) button.focus(); // a button that was clicked keeps the focus
});
document.addEventListener("input", (event) => {
  const name = event.target.dataset?.column;
  if (!name) return;
  if (!single) place = placeOf(event.target);
  set(items[place], { [name]: event.target.value }, event.target.tagName === "INPUT" ? name + place : undefined);
  const row = rowOf(items[place]);
  if (single) byId("answer").textContent = answered(row).join(", ") || "none yet";
  else elements[place].dataset.answer = row[said[0]];
  byId("counts").textContent = items.filter(decided).length + " of " + items.length + " decided";
  byId("saved").textContent = unsaved() ? "not saved to a file yet" : "all saved";
  byId("undo").disabled = false;
});
byId("reviewer")?.addEventListener("change", () => show());
byId("load").addEventListener("change", async (event) => {
  if (event.target.files[0]) await load(event.target.files[0]);
  event.target.value = ""; // the same file may be chosen again
});
byId("kept").addEventListener("click", () => { remember(); take(kept.rows); kept = null; keep(); show(); });
window.addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });

if (!items.length) {
  if (single) byId("review").hidden = true;
  byId("nothing").hidden = false;
  return;
}
if (single) place = Math.max(0, items.findIndex((item) => !decided(item)));
show();
