const boxes = [...document.querySelectorAll("select[data-region]")];
const keyOf = (box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region].join(" ");
const memory = browserMemory("gslopes-regions " + boxes.length + " " + (boxes[0] ? keyOf(boxes[0]) : ""), {});
const marks = memory.read();

const count = () => {
  byId("counts").textContent = boxes.filter((box) => box.value).length + " of " + boxes.length + " regions marked";
};
for (const box of boxes) {
  if (marks[keyOf(box)]) box.value = marks[keyOf(box)];
  box.addEventListener("change", () => {
    marks[keyOf(box)] = box.value;
    memory.keep(marks);
    count();
  });
}
byId("save").addEventListener("click", () => {
  const by = byId("reviewer").value.trim();
  const rows = boxes.filter((box) => box.value).map((box) => [box.dataset.cropper, box.dataset.photo, box.dataset.region, box.value, by]);
  saveCsv([["cropper", "photo", "region", "kind", "by"], ...rows]);
});
count();
