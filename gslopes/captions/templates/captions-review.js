"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const items = data.items;
  const byId = (id) => document.getElementById(id);
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
  const storageKey = "gslopes-captions " + items.map((item) => item.case.slice(0, 6)).join("").slice(0, 3000) + items.length;
  try {
    for (const row of JSON.parse(localStorage.getItem(storageKey) || "[]")) { put(row); unsaved = true; }
  } catch (error) { /* a browser that keeps nothing for pages from the disk */ }
  const keep = () => {
    unsaved = true;
    try { localStorage.setItem(storageKey, JSON.stringify([...answers.values()])); } catch (error) { /* as above */ }
  };

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
    if (!items.length) { byId("place").textContent = "no case"; byId("main").hidden = true; return; }
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

  // A cell that a spreadsheet would take for a formula is written as text.
  const cell = (text) => {
    const plain = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
  };

  function save() {
    const lines = [COLUMNS.join(","), ...[...answers.values()].map((row) => COLUMNS.map((name) => cell(row[name] || "")).join(","))];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = "review.csv";
    link.click();
    unsaved = false;
    show();
  }

  function parse(text) {
    const rows = [];
    let row = [""], quoted = false;
    for (let i = 0; i < text.length; i += 1) {
      const char = text[i];
      if (quoted) {
        if (char === '"' && text[i + 1] === '"') { row[row.length - 1] += '"'; i += 1; }
        else if (char === '"') quoted = false;
        else row[row.length - 1] += char;
      } else if (char === '"') quoted = true;
      else if (char === ",") row.push("");
      else if (char === "\n") { rows.push(row); row = [""]; }
      else if (char !== "\r") row[row.length - 1] += char;
    }
    if (row.length > 1 || row[0]) rows.push(row);
    return rows;
  }

  byId("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    const [head, ...rows] = parse((await file.text()).replace(/^\ufeff/, ""));
    const column = Object.fromEntries(COLUMNS.map((name) => [name, head.indexOf(name)]));
    for (const cells of rows) {
      const get = (name) => (cells[column[name]] || "").replace(/^'(?=[=+\-@])/, "");
      if (known.has(get("answer"))) put({ case: get("case"), answer: get("answer"), reviewer: get("reviewer"), note: get("note") });
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
})();
