// Two runs compared: slopes as rings and dots, differences with their intervals.
function changesPlot({ rows: all, ends }, width) {
  const unit = all[0].unit, rows = all.filter((row) => row.unit === unit), form = formatFor(unit), inUnit = inPoints(unit), least = inUnit ? 1 : 1e-6;
  const narrow = width < 640, wide = narrow ? width : Math.floor(width / 2) - 10;
  const keyed = [...rows].sort((a, b) => b.difference - a.difference).map((row, i) => ({ ...row, key: String(i) }));
  const high = narrow ? 36 : 25, left = narrow ? 6 : 14 + 7.4 * Math.max(8, ...rows.map((r) => Math.min(24, r.read.length)));
  const colour = (r) => (r.changed ? `var(--${sideOf(r.difference)})` : "var(--soft)");
  const base = (end) => ({
    height: rows.length * high + 70, marginTop: 24, marginBottom: 44, marginRight: 14, color: { type: "identity" },
    x: { domain: [-end, end], grid: true, tickFormat: (v) => whole(form(v)), ticks: ofOdds(unit) ? oddsTicks(end, 7) : 5, labelAnchor: "center", labelArrow: "none" },
    y: { type: "band", domain: keyed.map((r) => r.key), axis: null, padding: 0 },
  });
  const dy = narrow ? 8 : 0;
  const names = narrow ? { frameAnchor: "left", textAnchor: "start", dx: 2, dy: -8 } : { frameAnchor: "left", textAnchor: "end", dx: -8 };
  const label = Plot.text(keyed, { y: "key", text: (r) => cut(r.read, 24), title: (r) => r.label, fontSize: 13, fontWeight: (r) => (r.changed ? 650 : 400), fill: "var(--ink)", ...names });
  const most = 1.08 * Math.max(least, ...rows.flatMap((r) => [Math.abs(r.slope), Math.abs(r.other_slope)]));
  const far = 1.08 * Math.max(least, ...rows.flatMap((r) => [Math.abs(r.ci_low ?? 0), Math.abs(r.ci_high ?? 0)]));
  const slopes = base(most), difference = base(far);
  const first = chart({
    ...slopes, width: wide, marginLeft: left, x: { ...slopes.x, label: inUnit ? "slope, points per unit" : `slope, ${unit}` },
    marks: [
      Plot.ruleX([0], { stroke: "var(--edge)" }), label,
      Plot.ruleY(keyed, { x1: "slope", x2: "other_slope", y: "key", dy, stroke: colour, strokeWidth: 1.6 }),
      Plot.dot(keyed, { x: "slope", y: "key", dy, r: 4.5, fill: "var(--ground)", stroke: colour, strokeWidth: 1.6 }),
      Plot.dot(keyed, { x: "other_slope", y: "key", dy, r: 4.5, fill: colour, title: (r) => `${r.label}: ${form(r.slope)}, then ${form(r.other_slope)}` }),
      ...cornerMarks(ends, "bottom", 40),
    ],
  }, `Slopes of ${many(rows.length, "label")} in both runs; the table holds the same numbers`);
  const second = chart({
    ...difference, width: wide, marginLeft: narrow ? 6 : 14, x: { ...difference.x, label: "difference, second minus first" },
    marks: [
      Plot.ruleX([0], { stroke: "var(--edge)" }), narrow ? label : null,
      Plot.ruleY(keyed, { x1: "ci_low", x2: "ci_high", y: "key", dy, stroke: colour, strokeWidth: (r) => (r.changed ? 2.4 : 1.4) }),
      Plot.dot(keyed, { x: "difference", y: "key", dy, r: 4.5, fill: (r) => (r.changed ? colour(r) : "var(--ground)"), stroke: colour }),
    ].filter(Boolean),
  }, `Differences of ${many(rows.length, "label")} with 95 % intervals; the table holds the same numbers`);
  return el("div", { class: "side-by-side" }, first, second);
}

for (const root of document.querySelectorAll("[data-changes]")) {
  drawn(root, (width) => changesPlot(page.changes[Number(root.dataset.changes)], width));
}
