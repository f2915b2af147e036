// All plots, drawn with Observable Plot at the width of their place, and again when that changes.
const CHART = { className: "chart" };

function drawn(root, build) {
  let width = 0;
  const draw = () => {
    const now = Math.round(root.clientWidth);
    if (!now || Math.abs(now - width) < 12) return;
    width = now;
    root.replaceChildren(build(now));
  };
  new ResizeObserver(draw).observe(root);
  onPaper.push({ before: draw, after: () => {} }); // a closed part has no width until then
  draw();
  return root;
}

function chart(options, title) {
  const root = Plot.plot({ ...CHART, ...options });
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", title);
  root.classList.add("chart");
  // Plot names its groups "bar", "dot" and so on; a name without a role is an accessibility fault, and tells nothing.
  for (const mark of root.querySelectorAll("g[aria-label]")) mark.removeAttribute("aria-label");
  return root;
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const endNames = (ends) => [`← ${ends[0]}`, `${ends[1]} →`];

// Ends of the attribute at the two corners above or below a plot, where no tick is.
function cornerMarks(ends, anchor, dy) {
  return endNames(ends).map((text, i) => Plot.text([text], { frameAnchor: `${anchor}-${i ? "right" : "left"}`, dy, text: (d) => d, fontSize: 12, fill: "var(--soft)" }));
}

// Log-odds within [-most, most] at which the odds change by round per cents: as far apart as fits about this many.
function oddsTicks(most, many) {
  const low = 100 * Math.expm1(-most), high = 100 * Math.expm1(most), room = (high - low) / many;
  const tenth = 10 ** Math.floor(Math.log10(room)), step = tenth * [1, 2, 5, 10].find((times) => times * tenth >= room);
  const ends = [Math.ceil(low / step), Math.floor(high / step)];
  return Array.from({ length: ends[1] - ends[0] + 1 }, (_, i) => Math.log1p((step * (ends[0] + i)) / 100)).filter(Number.isFinite);
}

// Whole numbers if there are three at least, so that no tick lies on another.
function ticksOf(values) {
  const whole = [];
  for (let v = Math.ceil(values[0]); v <= values[values.length - 1]; v += 1) whole.push(v);
  return whole.length >= 3 && whole.length <= values.length ? whole : values;
}

// A mean over the K values with its band: shares in percent, probabilities.
function curve(values, mean, low, high, { yName, title, line = null, side = "", ends = ["", ""], height = 300, width, format = short, shares = false }) {
  const at = values.map((value, k) => ({ value, mean: mean[k], low: low[k], high: high[k] })).filter((d) => d.mean !== null);
  const reached = line ? [values[0], values[values.length - 1]].map((v) => line[0] + line[1] * v) : [];
  const top = Math.min(100, Math.max(1, ...at.map((d) => d.high), ...reached)); // per cent: a line may leave the shares that there are
  const first = values[0], last = values[values.length - 1], colour = side ? `var(--${side})` : "var(--soft)";
  const seen = [{ from: Math.max(-1, first), to: Math.min(1, last) }];
  return chart({
    width, height, marginLeft: 50, marginBottom: 46, marginTop: 30, marginRight: 16, color: { type: "identity" },
    x: { domain: [first, last], ticks: ticksOf(values), tickFormat: short, label: ends[0] ? null : "value of the attribute", labelAnchor: "center", labelArrow: "none" }, y: { label: yName, grid: true, nice: !shares, tickFormat: format, ...(shares ? { domain: [0, top] } : {}) },
    marks: [
      Plot.rectX(seen, { x1: "from", x2: "to", fill: "var(--ink)", fillOpacity: 0.05 }),
      Plot.areaY(at, { x: "value", y1: "low", y2: "high", fill: colour, fillOpacity: 0.2 }),
      line ? Plot.line([first, last], { x: (v) => v, y: (v) => line[0] + line[1] * v, stroke: colour, strokeWidth: 1.6, strokeDasharray: "6 4", clip: shares }) : null,
      Plot.line(at, { x: "value", y: "mean", stroke: colour, strokeWidth: line ? 1 : 2 }),
      Plot.dot(at, { x: "value", y: "mean", r: 4, fill: colour, title: (d) => `${format(d.mean)} at ${short(d.value)}` }),
      ends[0] || ends[1] ? cornerMarks(ends, "bottom", 40) : null,
    ].filter(Boolean),
  }, title);
}

// A slope in a cell of a table: its interval and dot, 0 in the middle; ends outside are cut and dashed.
function whisker(low, at, high, scale, floor = null) {
  if (at === null || low === null || high === null) return "";
  const place = (x) => 60 + 58 * Math.max(-1, Math.min(1, x / scale));
  return svg("svg", { class: "whisker", viewBox: "0 0 120 14", width: 120, height: 14, "aria-hidden": "true" },
    floor ? svg("rect", { class: "floor", x: place(floor[0]), width: Math.max(0, place(floor[1]) - place(floor[0])), y: 1, height: 12 }) : null,
    svg("line", { class: "zero", x1: 60, x2: 60, y1: 0, y2: 14 }),
    svg("line", { class: "range", x1: place(low), x2: place(high), y1: 7, y2: 7, "stroke-dasharray": Math.max(Math.abs(low), Math.abs(high)) > scale ? "3 2" : null }),
    svg("circle", { cx: place(at), cy: 7, r: 3.4 }));
}
