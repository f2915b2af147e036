// The table of all labels of one finding, with its volcano plot; a label opens its own panel.
const ROWS = 50;
const COLUMNS = [
  ["label", "Label", ""], ["slope", "Slope", "num"], ["interval", "95 % interval", ""], ["drawn", "Drawn", "drawn"],
  ["p", "p", "num"], ["q", "q", "num"], ["n", "n", "num"], ["active", "Active", "num"], ["centre", "Centre", "num"], ["side", "Direction", ""],
];
const ABOUT = {
  n: "photos answered at every value", active: "photos with the label at one value at least", centre: "share of photos with the label at the centre",
};

// The paper's p is its own, from t; the other estimators' p is that of the permutations, where they were run.
const chance = (own, name, i) => (name === "paper" ? null : own.estimators[name].p_perm[i]) ?? own.estimators[name].p[i];

function rowsOf(own, name) {
  const e = own.estimators[name];
  return own.labels.map((label, i) => ({
    i, label, slope: e.slope[i], low: e.ci_low[i], high: e.ci_high[i], t: e.p[i], p: chance(own, name, i), q: e.q[i], note: e.note[i],
    n: own.n[i], active: own.active[i], centre: own.centre[i], side: e.slope[i] === null ? 0 : Math.sign(e.slope[i]),
    floor: Math.max(0, ...Object.values(own.floor).map((f) => Math.abs(f.slope[i] ?? 0))),
  }));
}

function passes(row, state) {
  if (state.text && !row.label.toLowerCase().includes(state.text)) return false;
  if (state.side && row.side !== state.side) return false;
  if (state.preset === "q") return row.q !== null && row.q < 0.05;
  if (state.preset === "paper") return row.t !== null && row.t < page.p && Math.abs(row.slope) > page.slope;
  return true;
}

function compare(a, b, key) {
  if (key === "label") return a.label.localeCompare(b.label);
  const x = key === "interval" || key === "drawn" ? a.slope : a[key], y = key === "interval" || key === "drawn" ? b.slope : b[key];
  if (x === null || y === null) return x === y ? 0 : x === null ? Infinity : -Infinity; // no number: always last
  return x - y;
}

function sorted(rows, { key, down }) {
  return [...rows].sort((a, b) => {
    const order = compare(a, b, key);
    if (Math.abs(order) === Infinity) return order > 0 ? 1 : -1;
    return (down ? -order : order) || Math.abs(b.slope) - Math.abs(a.slope) || a.label.localeCompare(b.label);
  });
}

function volcano(section, rows, shown, open) {
  const judged = rows.filter((row) => row.slope !== null && row.t !== null);
  if (!judged.length) return el("p", { class: "none" }, "No label has a slope and a p.");
  const height = (row) => Math.min(16, -Math.log10(Math.max(row.t, 1e-16)));
  const wide = 1.08 * Math.max(1e-6, ...judged.map((row) => Math.abs(row.slope)));
  const most = Math.max(2, ...judged.map(height)) * 1.06;
  const { root, px, py } = axes({
    x: [-wide, wide], y: [0, most], xTicks: steps(-wide, wide, across() < 500 ? 4 : 6), yTicks: steps(0, most, 5), yName: "−log₁₀ p (from t)",
    xName: "slope", ends: section.ends,
    title: `Slopes and p-values of ${judged.length} labels; the table holds the same numbers`,
  });
  root.append(svg("line", { class: "axis", x1: px(0), x2: px(0), y1: py(0), y2: py(most) }));
  const inside = new Set(shown.map((row) => row.i));
  const ordered = [...judged].sort((a, b) => inside.has(a.i) - inside.has(b.i));
  for (const row of ordered) {
    const found = row.q !== null && row.q < 0.05;
    const kind = !inside.has(row.i) ? "out" : found ? (row.side < 0 ? "neg" : "pos") : "plain";
    root.append(svg("circle", { class: `star ${kind}`, cx: px(row.slope), cy: py(height(row)), r: found ? 4 : 3, "data-label": row.i },
      svg("title", {}, `${row.label}: ${signed(row.slope)}`)));
  }
  const named = judged.filter((row) => inside.has(row.i)).sort((a, b) => height(b) - height(a) || Math.abs(b.slope) - Math.abs(a.slope));
  const taken = judged.map((row) => [px(row.slope) - 4, py(height(row)) - 4, px(row.slope) + 4, py(height(row)) + 4]), most10 = taken.length + (across() < 500 ? 6 : 10);
  for (const row of named.slice(0, 40)) {
    const text = row.label.length > 22 ? `${row.label.slice(0, 21)}…` : row.label;
    const right = row.slope < 0, x = px(row.slope) + (right ? 7 : -7), y = py(height(row)) + 4, long = 6.2 * text.length;
    const box = [right ? x : x - long, y - 10, right ? x + long : x, y + 3];
    if (taken.length >= most10 || taken.some((o) => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1])) continue;
    taken.push(box);
    root.append(svg("text", { class: "name", x, y, "text-anchor": right ? "start" : "end" }, text));
  }
  root.addEventListener("click", (event) => {
    const label = event.target.getAttribute("data-label");
    if (label !== null) open(Number(label));
  });
  return root;
}

function tableRow(row, scale, open) {
  const found = row.q !== null && row.q < 0.05 && row.side !== 0;
  const kind = found ? (row.side < 0 ? "negative" : "positive") : "neither";
  const name = el("th", { scope: "row" }, el("button", { class: "label", onclick: () => open(row.i) }, ...breakable(row.label)));
  const side = row.side < 0 ? "←" : row.side > 0 ? "→" : "–";
  const end = row.side < 0 ? row.ends[0] : row.side > 0 ? row.ends[1] : "none";
  const cells = row.slope === null
    ? [el("td", { class: "reason", colspan: 5 }, `no slope: ${row.n === 0 ? "no photo was answered at every value" : "never active at the centre"}`)]
    : [el("td", { class: "num slope" }, signed(row.slope)), el("td", { class: "interval" }, `[${signed(row.low)}, ${signed(row.high)}]`),
      el("td", { class: "drawn" }, whisker(row.low, row.slope, row.high, scale, row.floor)),
      el("td", { class: "num", title: row.note || null }, probability(row.p)), el("td", { class: "num" }, probability(row.q))];
  return el("tr", { class: kind }, name, ...cells, el("td", { class: "num" }, row.n.toLocaleString("en")),
    el("td", { class: "num" }, row.active.toLocaleString("en")), el("td", { class: "num" }, percent(row.centre)),
    el("td", { class: "side" }, `${side} ${end}`));
}

function findingApp(root, section, own) {
  const names = Object.keys(own.estimators), first = names.includes("photo-rate") ? "photo-rate" : names[0];
  const state = { estimator: first, preset: "all", side: 0, text: "", key: "q", down: false, rows: ROWS };
  if (own.estimators[first].q.every((q) => q === null)) state.key = "slope";
  const unit = el("p", { class: "method" }), said = el("p", { class: "said", role: "status" });
  const picture = el("div", { class: "volcano" }), body = el("tbody"), more = el("button", { class: "plain" });
  const panel = el("div", { class: "panel", tabindex: "-1", hidden: true });
  const open = (i) => openLabel(panel, section, own, i);
  const pick = choice(names.map((name) => [name, name === "photo-rate" ? "photo-rate (recommended)" : name === "paper" ? "paper (2020)" : name]), first,
    (value) => { state.estimator = value; state.rows = ROWS; show(); });
  const presets = [["all", "all labels"], ["q", "q < 0.05"]];
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
  const heads = COLUMNS.map(([key, title, kind]) => el("th", { scope: "col", class: kind, title: ABOUT[key] },
    key === "drawn" ? title : el("button", { class: "sort", onclick: () => {
      state.down = state.key === key ? !state.down : !["label", "p", "q", "side"].includes(key);
      state.key = key;
      show();
    } }, title)));
  more.addEventListener("click", () => { state.rows += 4 * ROWS; show(); });

  function show() {
    const all = rowsOf(own, state.estimator).map((row) => ({ ...row, ends: section.ends }));
    const rows = sorted(all.filter((row) => passes(row, state)), state);
    const sizes = all.filter((row) => row.slope !== null).map((row) => Math.abs(row.slope)).sort((a, b) => a - b);
    const scale = 1.3 * (sizes[Math.floor(0.97 * (sizes.length - 1))] || 1e-6);
    body.replaceChildren(...rows.slice(0, state.rows).map((row) => tableRow(row, scale, open)));
    more.hidden = rows.length <= state.rows;
    more.textContent = `Show more labels (${(rows.length - state.rows).toLocaleString("en")} left)`;
    said.textContent = `${rows.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} labels`;
    const estimator = own.estimators[state.estimator], permuted = state.estimator !== "paper" && estimator.p_perm.some((p) => p !== null);
    unit.textContent = `Slope: ${state.estimator}, ${estimator.unit || "share of the centre per unit"}. ` +
      `p: ${permuted ? "permutation of each photo's answers over the values" : "two-sided t, null hypothesis: the slope is 0"}. ` +
      "q: p adjusted over the classifier's labels; coloured: q < 0.05. A dashed interval reaches beyond its strip." +
      (Object.keys(own.floor).length ? " Shaded: the placebo's floor for this label." : "");
    for (const [at, head] of heads.entries()) {
      const here = COLUMNS[at][0] === state.key;
      if (here) head.setAttribute("aria-sort", state.down ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    }
    picture.replaceChildren(volcano(section, all, rows, open));
  }

  root.replaceChildren();
  put(root, {}, [
    el("div", { class: "controls" }, field("Find a label", text), field("Show", preset), field("Direction", side), field("Estimator", pick)),
    said,
    el("figure", {}, picture, el("figcaption", {}, "Every label: its slope across, how unlikely by chance alone upwards. Click a dot, or a label in the table, for its curve.")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `All labels of ${section.classifier}` },
      el("table", { class: "labels" }, el("thead", {}, el("tr", {}, ...heads)), body)),
    more, unit, panel,
    comparisonTable("differences", section, own, "Differences between groups of photos"),
    comparisonTable("joint", section, own, "Beside another attribute, on the same photos"),
  ]);
  let rows = state.rows;
  onPaper.push({ before: () => { rows = state.rows; state.rows = Infinity; show(); }, after: () => { state.rows = rows; show(); } });
  show();
}
