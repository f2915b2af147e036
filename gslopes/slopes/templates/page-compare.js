// Differences between groups of photos: a sortable table, read when it is opened.

// title, how a row is sorted, what its cell shows, the cell's class; `drawn` gets the scale of the drawn intervals.
function differenceColumns(labels, scale) {
  return [
    { title: "Label", value: (r) => labels[r[0]], cell: (r) => breakable(labels[r[0]]), head: true },
    { title: "Groups", value: (r) => `${r[1]} ${r[2]} ${r[3]}`, cell: (r) => `${r[2]} − ${r[3]} (${r[1]})` },
    { title: "Difference", value: (r) => r[4], cell: (r) => points(r[4]), kind: "num slope" },
    { title: "95 % interval", cell: (r) => interval(r[5], r[6]), kind: "interval" },
    { title: "Drawn", cell: (r) => whisker(r[5], r[4], r[6], scale), kind: "drawn" },
    { title: "p", value: (r) => r[7], cell: (r) => probability(r[7]), kind: "num" },
    { title: "q", value: (r) => r[8], cell: (r) => probability(r[8]), kind: "num" },
  ];
}

const COMPARISONS = {
  differences: {
    columns: differenceColumns, q: 8, size: (r) => Math.abs(r[4] ?? 0),
    note: "Difference: the slope of the first group's photos less that of the second's, photo-rate, percentage points per unit. Interval: Welch's t. " +
      "p: permutation of who is in which group (Welch's t where no permutation reached the difference, or none was run), " +
      "null hypothesis: both groups have the same mean slope. q: this p, adjusted over the labels of the pair; coloured: q < 0.05 and an interval without 0. A dash: in both groups too few photos change their answer. " +
      "Where none of a small group's photos has the label, its slope is 0 without any spread: the interval is then too narrow. " +
      "Per unit of reach: each group's slope divided by that of the reader's log-odds, where one group is reached less than half as far as the other; interval: MOVER of Fieller's.",
  },
};

function scaleOf(kind, rows) {
  const sizes = rows.map(COMPARISONS[kind].size).sort((a, b) => a - b);
  return 1.6 * (sizes[Math.floor(0.95 * (sizes.length - 1))] || 1e-6);
}

function comparisonRow(kind, columns, row) {
  const found = isFinding(row[COMPARISONS[kind].q], row[5], row[6]);
  return el("tr", { class: found ? (row[4] < 0 ? "negative" : "positive") : "neither" },
    ...columns.map(({ cell, kind: style, head }) => el(head ? "th" : "td", { class: style, scope: head ? "row" : null }, ...[cell(row)].flat())));
}

// Next to one label, in its panel.
function comparisonOf(kind, section, finding, i, title) {
  const place = el("div", {});
  if (!section[kind]) return place;
  load(section[kind]).then((all) => {
    const rows = all.filter((row) => row[0] === i);
    if (!rows.length) return;
    const columns = COMPARISONS[kind].columns(finding.labels, scaleOf(kind, rows), section).slice(1);
    columns[0] = { ...columns[0], head: true };
    place.append(el("h5", {}, title), grid(columns.map((one) => one.title), rows.map((row) => comparisonRow(kind, columns, row)), `${title}: ${finding.labels[i]}`));
  }, (error) => place.append(el("p", { class: "none" }, error.message)));
  return place;
}

// Of all labels, below the table of findings; built when it is opened.
function comparisonTable(kind, section, finding, title) {
  if (!section[kind]) return null;
  const box = el("details", { class: "comparison screen" }, el("summary", {}, title));
  box.addEventListener("toggle", () => {
    if (!box.open || box.dataset.built) return;
    box.dataset.built = "yes";
    load(section[kind]).then((rows) => box.append(...comparisonApp(kind, section, finding, rows, title)),
      (error) => box.append(el("p", { class: "none" }, error.message)));
  });
  return box;
}

function comparisonApp(kind, section, finding, all, title) {
  const about = COMPARISONS[kind], columns = about.columns(finding.labels, scaleOf(kind, all), section);
  const state = { text: "", column: columns.length - 1, down: false, rows: ROWS };
  const texts = new Map(all.map((row) => [row, columns.map((one) => (typeof one.value?.(row) === "string" ? one.value(row).toLowerCase() : "")).join(" ")]));
  const text = el("input", { type: "search", oninput: () => { state.text = text.value.trim().toLowerCase(); state.rows = ROWS; show(); } });
  const counted = el("p", { class: "count", role: "status" }), body = el("tbody"), more = el("button", { class: "plain" });
  const heads = columns.map((one, at) => el("th", { scope: "col", class: one.kind?.replace(" slope", "") }, one.value ? el("button", { class: "sort", onclick: () => {
    state.down = state.column === at ? !state.down : !(one.head || ["p", "q", "Groups"].includes(one.title));
    state.column = at;
    show();
  } }, one.title) : one.title));
  more.addEventListener("click", () => { state.rows += 4 * ROWS; show(); });

  function ordered(rows) {
    const { value } = columns[state.column];
    return [...rows].sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; // no number: always last
      const order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return (state.down ? -order : order) || about.size(b) - about.size(a);
    });
  }

  function show() {
    const rows = ordered(all.filter((row) => texts.get(row).includes(state.text)));
    body.replaceChildren(...rows.slice(0, state.rows).map((row) => comparisonRow(kind, columns, row)));
    more.hidden = rows.length <= state.rows;
    more.textContent = `Show more rows (${(rows.length - state.rows).toLocaleString("en")} left)`;
    counted.textContent = `${rows.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} rows`;
    for (const [at, head] of heads.entries()) {
      if (at === state.column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    }
  }

  let rows = state.rows;
  onPaper.push({ before: () => { rows = state.rows; state.rows = Infinity; show(); }, after: () => { state.rows = rows; show(); } });
  show();
  return [el("div", { class: "controls" }, field("Find a label or group", text)), counted,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, ${section.classifier} along ${section.perceived}` },
      el("table", {}, el("thead", {}, roving(el("tr", {}, ...heads), "button")), body)),
    more, el("p", { class: "method" }, about.note)];
}
