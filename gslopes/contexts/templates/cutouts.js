"use strict";
(() => {
  const decided = {};
  const count = document.getElementById("count");
  const decide = (figure, decision) => {
    decided[figure.dataset.photo] = figure.dataset.decision = decision;
    count.textContent = `${Object.keys(decided).length} decided, not saved yet`;
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
  document.getElementById("save").addEventListener("click", () => {
    const lines = Object.entries(decided).map(([photo, decision]) => `${photo},${decision}\n`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["photo,decision\n", ...lines], { type: "text/csv" }));
    link.download = "review.csv";
    link.click();
    count.textContent = `${lines.length} decided, all saved`;
  });
})();
