// One background of each context, in an order of this rater's own; the answers as the CSV that --ratings reads.
const data = JSON.parse(document.getElementById("page-data").textContent);
const byId = (id) => document.getElementById(id);
const random = (below) => crypto.getRandomValues(new Uint32Array(1))[0] % below;

const shuffled = (list) => {
  const made = [...list];
  for (let at = made.length - 1; at > 0; at -= 1) {
    const other = random(at + 1);
    [made[at], made[other]] = [made[other], made[at]];
  }
  return made;
};
const chosen = new Map(); // context to one of its backgrounds
for (const item of shuffled(data.items)) if (!chosen.has(item.context)) chosen.set(item.context, item);
const items = shuffled([...chosen.values()]);
const answers = items.map(() => ({ rating: "", text: "" }));
const number = `r${Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("")}`;
let place = 0;
let unsaved = false;

function show() {
  const over = place === items.length;
  byId("task").hidden = over;
  byId("end").hidden = !over;
  byId("place").textContent = over ? "All places are rated." : `Place ${place + 1} of ${items.length}`;
  if (over) { byId("gender").focus(); return; }
  const { rating, text } = answers[place];
  byId("picture").src = items[place].src;
  byId("text").value = text;
  byId("rating").value = rating === "" ? 5 : rating;
  byId("back").disabled = place === 0;
  tell();
}

function tell() {
  const { rating } = answers[place];
  byId("value").textContent = rating === "" ? "not yet rated" : rating;
  byId("next").disabled = rating === "";
}

function rate(value) {
  answers[place].rating = String(value);
  byId("rating").value = value;
  unsaved = true;
  tell();
}

function move(to) {
  place = to;
  show();
  if (place < items.length) byId("rating").focus();
}

const cell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

function save() {
  const rater = byId("rater").value.trim() || number;
  const gender = byId("gender").value;
  const rows = items.map(({ context }, at) => ({ context, rater, gender, ...answers[at] }));
  const lines = [data.columns, ...rows.map((row) => data.columns.map((name) => row[name]))];
  const text = `${lines.map((line) => line.map(cell).join(",")).join("\n")}\n`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "ratings.csv";
  link.click();
  URL.revokeObjectURL(link.href);
  unsaved = false;
  byId("saved").textContent = "Saved. Send the file to who asked you.";
}

byId("rating").addEventListener("input", (event) => rate(event.target.value));
byId("rating").addEventListener("pointerup", (event) => rate(event.target.value)); // 5, where the slider stands, too
byId("text").addEventListener("input", (event) => { answers[place].text = event.target.value; unsaved = true; });
byId("task").addEventListener("submit", (event) => { event.preventDefault(); if (answers[place].rating !== "") move(place + 1); });
byId("end").addEventListener("submit", (event) => { event.preventDefault(); save(); });
byId("back").addEventListener("click", () => move(place - 1));
byId("again").addEventListener("click", () => move(place - 1));
document.addEventListener("keydown", (event) => {
  if (place === items.length || event.target.id === "text" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9]$/.test(event.key)) { event.preventDefault(); rate(event.key); }
  else if (event.key === "Enter" && event.target.tagName !== "BUTTON" && answers[place].rating !== "") { event.preventDefault(); move(place + 1); }
});
addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
show();
