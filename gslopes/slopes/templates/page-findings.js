// The table of all labels of one finding; a label opens its own panel.
const openers = new Map(); // a finding's key to what opens a label's panel
const ROWS = 50;
const COLUMNS = [
  ["label", "Label", ""], ["slope", "Slope", "num"], ["interval", "95 % interval", ""], ["drawn", "Drawn", "drawn"],
  ["code", "Decision", ""], ["p", "p", "num"], ["q", "q", "num"], ["n", "Photos", "num"], ["active", "With it", "num"], ["centre", "At 0", "num"],
];
const ABOUT = {
  n: "photos answered at every value", active: "of these, photos with the label at one value at least", centre: "share of photos with the label at value 0",
  p: "the chance of a slope as steep, if the answers did not depend on the value", q: "p, adjusted for the number of labels looked at",
  drawing: "the label's change from the photo to value 0; bold where it goes further than the whole sweep does",
  code: "finding: q below 0.05, an interval without 0, and steeper than light alone, and than any other placebo that moves the label",
};

const DRAWING = ["drawing", "Drawing", "num"];
const columnsOf = (finding) => (finding.drawing ? [...COLUMNS.slice(0, 4), DRAWING, ...COLUMNS.slice(4)] : COLUMNS);

// The p that q adjusts, and where it is from.
const chance = (finding, name, i) => finding.estimators[name].p_test[i];
const SOURCES = { permutation: "permutation of each photo's answers over the values", t: "two-sided t", "t below the permutations' floor": "two-sided t, since no permutation reached the slope" };
const sourceOf = (finding, name, i) => SOURCES[finding.estimators[name].source[i]] ?? (finding.estimators[name].p_test[i] === null ? "" : SOURCES.t);

// The slopes of a label that placebo sweeps explain; null without any.
function floorOf(finding, i) {
  const ends = Object.values(finding.floor).flatMap((f) => (f.low[i] === null ? [] : [f.low[i], f.high[i]]));
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
}

const ORDER = ["finding", "open", "placebo", "none", "unjudged"];

function rowsOf(finding, name) {
  const e = finding.estimators[name];
  return finding.labels.map((label, i) => ({
    i, label, slope: e.slope[i], low: e.ci_low[i], high: e.ci_high[i], t: e.p[i], p: chance(finding, name, i), q: e.q[i], note: e.note[i], source: sourceOf(finding, name, i),
    n: finding.n[i], active: finding.active[i], centre: finding.centre[i], side: e.slope[i] === null ? 0 : Math.sign(e.slope[i]),
    code: finding.decision[i], why: finding.why[i], expected: finding.expected[i], floor: name === firstOf(finding) ? floorOf(finding, i) : null, own: finding.units[i], unit: name === MEASURED ? finding.units[i] : e.unit, form: formatFor(name === MEASURED ? finding.units[i] : e.unit),
    drawing: finding.drawing?.[i][0] ?? null, drawn: finding.drawing?.[i],
  }));
}

function passes(row, state) {
  if (state.text && !row.label.toLowerCase().includes(state.text)) return false;
  if (state.side && row.side !== state.side) return false;
  if (state.preset === "moves") return moves(row.code);
  if (state.preset === "q") return row.q !== null && row.q < 0.05;
  if (state.preset === "paper") return row.t !== null && row.t < page.p && Math.abs(row.slope) > page.slope;
  return true;
}

function compare(a, b, key) {
  if (key === "label") return a.label.localeCompare(b.label);
  if (key === "code") return ORDER.indexOf(a.code) - ORDER.indexOf(b.code) || a.expected - b.expected;
  const x = key === "interval" || key === "drawn" ? a.slope : a[key], y = key === "interval" || key === "drawn" ? b.slope : b[key];
  if (x === null || y === null) return x === y ? 0 : x === null ? Infinity : -Infinity; // no number: always last
  return x - y;
}

// How far a slope moves when the cut does.

function sorted(rows, { key, down }) {
  return [...rows].sort((a, b) => {
    const order = compare(a, b, key);
    if (Math.abs(order) === Infinity) return order > 0 ? 1 : -1;
    return (down ? -order : order) || Math.abs(b.slope) - Math.abs(a.slope) || a.label.localeCompare(b.label);
  });
}

function tableRow(row, scale, open) {
  const kind = row.side === 0 ? "neither" : row.code === "finding" || row.code === "open" ? (row.side < 0 ? "negative" : "positive") : "neither";
  const name = el("th", { scope: "row" }, el("button", { class: "label", onclick: () => open(row.i) }, ...breakable(row.label)));
  const cells = row.slope === null
    ? [el("td", { class: "reason", colspan: row.drawn ? 7 : 6 }, `no slope: ${row.n === 0 ? "no photo was answered at every value" : "never returned at value 0"}`)]
    : [el("td", { class: "num slope" }, row.form(row.slope)), el("td", { class: "interval" }, interval(row.low, row.high, row.form)),
      el("td", { class: "drawn" }, whisker(row.low, row.slope, row.high, scale, row.floor)),
      ...(row.drawn ? [el("td", { class: "num" }, el(row.drawn[4] < 0.05 && row.drawn[4] !== null ? "b" : "span", {}, formatFor(row.own)(row.drawing)), ` ${interval(row.drawn[1], row.drawn[2], formatFor(row.own))}`)] : []),
      el("td", {}, decision(row.code, row.why, row.expected)),
      el("td", { class: "num", title: row.note || row.source || null }, probability(row.p)), el("td", { class: "num" }, probability(row.q))];
  return el("tr", { class: kind }, name, ...cells, el("td", { class: "num" }, row.n.toLocaleString("en")),
    el("td", { class: "num" }, row.active.toLocaleString("en")), el("td", { class: "num" }, percent(row.centre)));
}

function findingApp(root, section, finding) {
  const names = Object.keys(finding.estimators), first = firstOf(finding), judged = first === "photo-rate" || first === MEASURED;
  const state = { estimator: first, preset: "all", side: 0, text: "", key: judged ? "code" : "q", down: false, rows: ROWS };
  if (finding.estimators[first].q.every((q) => q === null) && !judged) state.key = "slope";
  const unit = el("p", { class: "method" }), counted = el("p", { class: "count", role: "status" });
  const body = el("tbody"), more = el("button", { class: "plain" });
  const panel = el("div", { class: "panel", tabindex: "-1", hidden: true });
  const open = (i) => openLabel(panel, section, finding, i);
  openers.set(section.key, open);
  const pick = choice(names.map((name) => [name, name === "paper" ? "paper (2020)" : name]), first,
    (value) => { state.estimator = value; state.rows = ROWS; show(); });
  const presets = [["all", "all labels"], ["moves", "labels that move"], ["q", "q < 0.05"]];
  if (names.includes("paper")) presets.push(["paper", `the paper's: p < ${page.p}, |slope| > ${page.slope}`]);
  const preset = choice(presets, "all", (value) => {
    state.preset = value;
    state.rows = ROWS;
    if (value === "paper") state.estimator = pick.value = "paper";
    show();
  });
  const sides = [["0", "both"], ["-1", `← ${section.ends[0]}`], ["1", `${section.ends[1]} →`]];
  const side = choice(sides, "0", (value) => { state.side = Number(value); state.rows = ROWS; show(); });
  const text = el("input", { type: "search", oninput: () => { state.text = text.value.trim().toLowerCase(); state.rows = ROWS; show(); } });
  const columns = columnsOf(finding);
  const heads = columns.map(([key, title, kind]) => el("th", { scope: "col", class: kind, title: ABOUT[key] },
    key === "drawn" ? title : el("button", { class: "sort", onclick: () => {
      state.down = state.key === key ? !state.down : !["label", "p", "q", "side", "code"].includes(key);
      state.key = key;
      show();
    } }, title)));
  more.addEventListener("click", () => { state.rows += 4 * ROWS; show(); });

  function show() {
    const all = rowsOf(finding, state.estimator).map((row) => ({ ...row, ends: section.ends }));
    const rows = sorted(all.filter((row) => passes(row, state)), state);
    const sizes = all.filter((row) => row.low !== null).map((row) => Math.abs(row.slope)).sort((a, b) => a - b);
    const scale = 1.3 * (sizes[Math.floor(0.97 * (sizes.length - 1))] || 1e-6);
    body.replaceChildren(...rows.slice(0, state.rows).map((row) => tableRow(row, scale, open)));
    more.hidden = rows.length <= state.rows;
    more.textContent = `Show more labels (${(rows.length - state.rows).toLocaleString("en")} left)`;
    counted.textContent = `${rows.length.toLocaleString("en")} of ${many(all.length, "label")}`;
    const estimator = finding.estimators[state.estimator], sources = [...new Set(all.map((row) => row.source).filter(Boolean))];
    const named = state.estimator === MEASURED ? "of each label in the unit that fits it: points of 100 photos, % of the odds of its score, or its number's own" : `${state.estimator}, ${estimator.unit || "share of the centre per unit"}`;
    unit.textContent = `Slope per unit: ${named}; with its 95 % interval. ` +
      `p: ${sources.join("; or ") || SOURCES.t}; null hypothesis: the slope is 0. ` +
      "q: this p, adjusted over the classifier's labels. Coloured: labels that move. A dashed interval reaches beyond its strip." +
      (finding.cut ? ` Present: ${finding.cut}.` : "") +
      (finding.drawing ? " Drawing: the label's change from the photo to value 0, or to what an editor of others gives where no change is asked for, with its 95 % interval (t over photos); bold: further than the whole sweep moves it (q < 0.05)." : "") +
      (Object.keys(finding.floor).length ? " Shaded: how far slopes go in placebo sweeps, where the attribute does not change (95 %, paired photo by photo). Of these, the same picture and a random change count only where they move the label themselves." : "");
    for (const [at, head] of heads.entries()) {
      const here = columns[at][0] === state.key;
      if (here) head.setAttribute("aria-sort", state.down ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    }
  }

  root.replaceChildren();
  put(root, {}, [
    el("div", { class: "controls" }, field("Find a label", text), field("Show", preset), field("Direction", side), field("Estimator", pick)),
    counted,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `All labels of ${section.classifier} along ${section.perceived}; arrow keys go from one to the next` },
      el("table", { class: "labels" }, el("thead", {}, roving(el("tr", {}, ...heads), "button")), roving(body, "button"))),
    more, unit, panel,
    ...(section.reach ?? []).map((text) => el("p", { class: "method" }, text)),
    comparisonTable("differences", section, finding, "Differences between groups of photos"),
  ]);
  let rows = state.rows;
  onPaper.push({ before: () => { rows = state.rows; state.rows = Infinity; show(); }, after: () => { state.rows = rows; show(); } });
  show();
}
