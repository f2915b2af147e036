"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const boxes = [...document.querySelectorAll("select[data-region]")];
  const COLUMNS = ["cropper", "photo", "region", "kind", "by"];
  const keyOf = (box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region].join(" ");
  const storageKey = "gslopes-regions " + boxes.length + " " + (boxes[0] ? keyOf(boxes[0]) : "");
  let marks = {};
  try { marks = JSON.parse(localStorage.getItem(storageKey) || "{}"); } catch (error) { /* nothing is kept for pages from the disk */ }

  const count = () => {
    const done = boxes.filter((box) => box.value).length;
    byId("counts").textContent = done + " of " + boxes.length + " regions marked";
  };
  for (const box of boxes) {
    if (marks[keyOf(box)]) box.value = marks[keyOf(box)];
    box.addEventListener("change", () => {
      marks[keyOf(box)] = box.value;
      try { localStorage.setItem(storageKey, JSON.stringify(marks)); } catch (error) { /* as above */ }
      count();
    });
  }

  // A cell that a spreadsheet would take for a formula is written as text.
  const cell = (text) => {
    const plain = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
  };
  byId("save").addEventListener("click", () => {
    const by = byId("reviewer").value.trim();
    const rows = boxes.filter((box) => box.value).map((box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region, box.value, by]);
    const lines = [COLUMNS, ...rows].map((row) => row.map(cell).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = "review.csv";
    link.click();
  });
  count();
})();
