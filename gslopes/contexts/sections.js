const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("page-data").textContent);
const fill = (cell, answer) => {
  const box = cell.querySelector(".said");
  box.textContent = "";
  if (!answer) { cell.dataset.inferred = ""; return; }
  const [inferred, tags] = answer;
  cell.dataset.inferred = inferred;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const bold = document.createElement("b");
  bold.className = inferred;
  bold.textContent = inferred;
  summary.append(bold, ` · ${tags.length} tag${tags.length === 1 ? "" : "s"}`);
  const list = document.createElement("ul");
  list.className = "tags";
  for (const tag of tags) {
    const item = document.createElement("li");
    item.textContent = tag;
    list.append(item);
  }
  details.append(summary, list);
  box.append(details);
};
const show = () => {
  const name = byId("by-tagger").value, gender = byId("by-gender").value, group = byId("by-group").value;
  const inferred = byId("by-inferred").value, column = byId("by-context").value;
  let rows = 0;
  document.querySelectorAll(".grid [data-cell]").forEach((cell) => fill(cell, data[cell.dataset.cell][name]));
  document.querySelectorAll(".grid tbody tr").forEach((row) => {
    const cells = [...row.querySelectorAll("[data-cell]")].filter((cell) => !column || cell.dataset.condition === column);
    const said = row.dataset.gender;
    const wrong = (one) => (said === "woman" && one === "man") || (said === "man" && one === "woman");
    const fits = (cell) => !inferred || (inferred === "wrong" ? wrong(cell.dataset.inferred) : cell.dataset.inferred === inferred);
    const isEmpty = row.classList.contains("empty");
    row.hidden = !isEmpty && ((gender && said !== gender) || (group && row.dataset.group !== group) || !cells.some(fits));
    rows += !row.hidden && !isEmpty;
  });
  document.querySelectorAll(".grid [data-condition]").forEach((cell) => {
    cell.hidden = Boolean(column) && cell.dataset.condition !== column;
  });
  byId("shown").textContent = `${rows} ${rows === 1 ? "person" : "people"} shown`;
};
document.querySelectorAll(".controls select").forEach((control) => control.addEventListener("change", show));
byId("filters").hidden = false;
show();
