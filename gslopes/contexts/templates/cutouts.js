const decided = {};
const decide = (figure, decision) => {
  decided[figure.dataset.photo] = figure.dataset.decision = decision;
  byId("count").textContent = `${Object.keys(decided).length} decided, not saved yet`;
};
for (const figure of document.querySelectorAll("figure")) {
  figure.addEventListener("keydown", (event) => {
    const decision = { a: "accept", x: "exclude" }[event.key];
    if (!decision || event.ctrlKey || event.metaKey || event.altKey) return;
    decide(figure, decision);
    if (figure.nextElementSibling) figure.nextElementSibling.focus();
  });
  for (const button of figure.querySelectorAll("button")) {
    button.addEventListener("click", () => decide(figure, button.dataset.choice));
  }
}
byId("save").addEventListener("click", () => {
  saveCsv([["photo", "decision"], ...Object.entries(decided)]);
  byId("count").textContent = `${Object.keys(decided).length} decided, all saved`;
});
