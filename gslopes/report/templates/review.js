const data = JSON.parse(document.getElementById("page-data").textContent);
const items = data.items;
const COLUMNS = ["photo", "path", "decision", "gender", "race", "age"];
const GENDER = { f: "female", m: "male", n: "non-binary", u: "unknown" };
const RACE = { 1: "white", 2: "black", 3: "asian", 4: "indian", 5: "other", 6: "unknown" };
const AGE = { y: "under 35", o: "35 or older", k: "unknown" };
const DECISIONS = ["accept", "correct", "exclude", "undecided"];
let place = 0;
let unsaved = false;

// Answers, by photo: those of an earlier census come with the page.
const answers = new Map(data.answers.map((row) => [row.photo, row]));
const memory = browserMemory("gslopes-review " + items.map((item) => item.photo.slice(0, 8)).join("").slice(0, 4000) + items.length, []);
for (const row of memory.read()) { answers.set(row.photo, row); unsaved = true; }
const keep = () => { unsaved = true; memory.keep([...answers.values()]); };

// Only what a person said is an answer: accepting says all three, a key of one says that one.
const PROPER = ["white", "black", "asian", "indian"]; // written with a capital; the CSV keeps the reader's names
const proper = (name) => (PROPER.includes(name) ? name[0].toUpperCase() + name.slice(1) : name);
const fresh = (item) => ({ photo: item.photo, path: item.path, decision: "undecided", gender: "", race: "", age: "" });

function answer(key) {
  const item = items[place];
  const row = { ...(answers.get(item.photo) || fresh(item)) };
  let next = true;
  if (row.decision === "accept" && key !== "a") Object.assign(row, fresh(item));
  if (key === "a") {
    Object.assign(row, { decision: "accept", gender: item.gender[0], race: item.race[0], age: item.age[0] });
  } else if (key in GENDER) {
    row.gender = GENDER[key];
    row.decision = "correct";
  } else if (key === "x") row.decision = "exclude";
  else if (key === "d") row.decision = "undecided";
  else {
    if (key in RACE) row.race = RACE[key];
    if (key in AGE) row.age = AGE[key];
    row.decision = "correct";
    next = false;
  }
  answers.set(item.photo, row);
  keep();
  if (next && place < items.length - 1) place += 1;
  show();
}

const decided = (item) => {
  const row = answers.get(item.photo);
  return row !== undefined && (row.decision === "exclude" || row.decision === "accept" || (row.decision === "correct" && row.gender !== ""));
};

function move(key) {
  if (key === "arrowleft") place = Math.max(0, place - 1);
  if (key === "arrowright") place = Math.min(items.length - 1, place + 1);
  if (key === "g") {
    for (let step = 1; step <= items.length; step += 1) {
      const at = (place + step) % items.length;
      if (!decided(items[at])) { place = at; break; }
    }
  }
  show();
}

// -- the page

const percent = (share) => Math.round(100 * share) + " %";

function show() {
  const item = items[place];
  const row = answers.get(item.photo);
  const image = byId("photo");
  image.src = item.src;
  image.alt = "Photo of a search for " + (item.occupation || "people at work");
  const [left, top, right, bottom] = item.box.map((end) => Math.min(1, Math.max(0, end)));
  Object.assign(byId("box").style, {
    left: 100 * left + "%", top: 100 * top + "%", width: 100 * (right - left) + "%", height: 100 * (bottom - top) + "%",
  });
  byId("occupation").textContent = item.occupation;
  byId("file").textContent = item.path;
  byId("credit").replaceChildren([item.title, item.creator, item.licence].filter(Boolean).join(" · "));
  if (/^https?:\/\//.test(item.page)) {
    const link = document.createElement("a");
    Object.assign(link, { href: item.page, rel: "noreferrer noopener", textContent: item.page });
    byId("credit").append(item.title || item.creator || item.licence ? " · " : "", link);
  }
  for (const name of ["gender", "race", "age"]) byId(name).textContent = proper(item[name][0]) + " (" + percent(item[name][1]) + ")";
  const said = row && (row.decision === "accept" || row.decision === "correct");
  byId("decision").textContent = !row ? "none yet"
    : row.decision + (said ? ": " + [row.gender, proper(row.race), row.age].filter(Boolean).join(", ") : "");
  for (const button of document.querySelectorAll("button[data-key]")) {
    const key = button.dataset.key;
    const chosen = row && ((key === "x" && row.decision === "exclude") || (key === "d" && row.decision === "undecided")
      || (key === "a" && row.decision === "accept") || (row.decision === "correct"
      && (GENDER[key] === row.gender || RACE[key] === row.race || AGE[key] === row.age)));
    button.classList.toggle("chosen", Boolean(chosen));
  }
  byId("place").textContent = "Photo " + (place + 1) + " of " + items.length;
  byId("counts").textContent = items.filter(decided).length + " decided";
  byId("saved").textContent = unsaved ? "not saved to a file yet" : "all saved";
}

function save() {
  saveCsv([COLUMNS, ...[...answers.values()].map((row) => COLUMNS.map((name) => row[name] || ""))]);
  unsaved = false;
  show();
}

async function load(file) {
  const rows = parseCsv(await file.text());
  if (!rows.length || !("photo" in rows[0] && "decision" in rows[0])) { byId("saved").textContent = "that file is no review.csv"; return; }
  for (const row of rows) {
    const full = Object.fromEntries(COLUMNS.map((name) => [name, row[name] || ""]));
    if (DECISIONS.includes(full.decision)) answers.set(full.photo, full);
  }
  keep();
  show();
}

function press(key) {
  if (key === "s") save();
  else if (["arrowleft", "arrowright", "g"].includes(key)) move(key);
  else if ("afmnuxd".includes(key) || key in RACE || key in AGE) answer(key);
  else return false;
  return true;
}

if (!items.length) {
  byId("review").hidden = true;
  byId("nothing").hidden = false;
  return;
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  if (event.key.length > 1 && !event.key.startsWith("Arrow")) return; // Enter and Tab belong to buttons
  if (press(event.key.toLowerCase())) event.preventDefault();
});
for (const button of document.querySelectorAll("button[data-key]")) {
  button.addEventListener("click", () => press(button.dataset.key));
}
byId("load").addEventListener("change", (event) => { if (event.target.files[0]) load(event.target.files[0]); });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
place = Math.max(0, items.findIndex((item) => !decided(item)));
show();
