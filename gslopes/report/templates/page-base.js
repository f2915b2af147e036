// Texts of strangers (labels, file names, groups) reach the page through textContent and setAttribute alone.
const page = JSON.parse(document.getElementById("page-data").textContent);
const arrived = new Map(), asked = new Map();
window.gslopes = (name, content) => arrived.set(name, content);

// A data file comes through a script element: the one road that is open when the page lies on a disk.
function load(name) {
  if (!asked.has(name)) {
    asked.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onload = () => (arrived.has(name) ? resolve(arrived.get(name)) : reject(new Error(name)));
      script.onerror = () => reject(new Error(`data/${name}.js is not beside this page`));
      document.head.append(script);
    }));
  }
  return asked.get(name);
}

// On paper every row and every closed part is there; afterwards the screen is as it was. Parts not built yet stay out.
const onPaper = [];
addEventListener("beforeprint", () => {
  for (const { before } of onPaper) before();
  for (const part of document.querySelectorAll("details:not([open]):not(.screen)")) { part.open = true; part.dataset.printed = "yes"; }
});
addEventListener("afterprint", () => {
  for (const { after } of onPaper) after();
  for (const part of document.querySelectorAll("details[data-printed]")) { part.open = false; delete part.dataset.printed; }
});

const SVG = "http://www.w3.org/2000/svg";

function put(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, properties = {}, ...children) => put(document.createElement(tag), properties, children);
const svg = (tag, properties = {}, ...children) => put(document.createElementNS(SVG, tag), properties, children);

const minus = (text) => text.replace("-", "−");

function signed(number, digits = 3) {
  if (number === null || number === undefined) return "–";
  const size = Math.abs(number);
  return minus((number < 0 ? "-" : "+") + (size >= 100 ? size.toPrecision(3) : size.toFixed(digits)));
}

function probability(number) {
  if (number === null || number === undefined) return "–";
  if (number === 0) return "0";
  if (number < 1e-15) return "<1e−15";
  return minus(number < 0.001 ? number.toExponential(1) : String(Number(number.toPrecision(2))));
}

// A long name may be broken after _ - / . only.
const breakable = (text) => text.split(/(?<=[_/.-])/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));
// Units across a plot: fewer on a phone, so that its texts stay as large.
const across = () => (matchMedia("(max-width: 40rem)").matches ? 370 : 560);

const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);
const short = (value) => minus(String(Number(value.toPrecision(3))));

function field(title, control) {
  return el("label", { class: "field" }, el("span", {}, title), control);
}

function choice(options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [name, title] of options) select.append(el("option", { value: name, selected: name === value }, title));
  return select;
}

// [low, high] as a line with the estimate as a dot, 0 in the middle; ends outside are cut and dashed.
function whisker(low, at, high, scale, floor = 0) {
  if (at === null || low === null || high === null) return "";
  const place = (x) => 60 + 58 * Math.max(-1, Math.min(1, x / scale));
  const cut = Math.max(Math.abs(low), Math.abs(high)) > scale;
  return svg("svg", { class: "whisker", viewBox: "0 0 120 14", width: 120, height: 14, "aria-hidden": "true" },
    floor ? svg("rect", { class: "floor", x: place(-floor), width: place(floor) - place(-floor), y: 1, height: 12 }) : null,
    svg("line", { class: "zero", x1: 60, x2: 60, y1: 0, y2: 14 }),
    svg("line", { class: "range", x1: place(low), x2: place(high), y1: 7, y2: 7, "stroke-dasharray": cut ? "3 2" : null }),
    svg("circle", { cx: place(at), cy: 7, r: 3.4 }));
}

// A link that a stranger named: to http(s) alone, and it tells nobody where the reader came from. Else the text.
function outward(text, address) {
  return /^https?:\/\//.test(address) ? el("a", { href: address, rel: "noreferrer noopener" }, text) : text;
}

// Who made a collected photo, under which licence, and where it was found.
function credit(album, photo) {
  const own = album.credits?.[photo];
  if (!own) return null;
  const parts = [own.title, outward(own.creator || "creator not stated", own.creator_url), outward(own.licence || "no licence stated", own.licence_url)];
  if (own.page) parts.push(outward("source", own.page));
  return el("p", { class: "credit" }, ...parts.filter((part) => part !== "").flatMap((part, i) => (i ? [", ", part] : [part])));
}

function steps(low, high, many = 5) {
  const rough = (high - low) / many || 1, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) ticks.push(Number(at.toPrecision(6)));
  return ticks;
}

// Axes of a small plot: its elements, and the functions from numbers to places.
function axes({ x, y, xTicks, yTicks, xName, yName, ends = null, width = across(), height = 300, title }) {
  const left = 52, right = 14, top = 12, bottom = 46;
  const px = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const root = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  for (const tick of yTicks) {
    root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }),
      svg("text", { x: left - 7, y: py(tick) + 4, "text-anchor": "end" }, minus(String(Number(tick.toPrecision(4))))));
  }
  for (const tick of xTicks) root.append(svg("text", { x: px(tick), y: height - bottom + 17, "text-anchor": "middle" }, short(tick)));
  root.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    svg("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, xName),
    svg("text", { x: left, y: height - 8 }, ends ? `← ${ends[0]}` : ""),
    svg("text", { x: width - right, y: height - 8, "text-anchor": "end" }, ends ? `${ends[1]} →` : ""),
    svg("text", { transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yName));
  return { root, px, py };
}

function pathOf(points) {
  let pen = "M";
  return points.map((point) => {
    if (point === null) { pen = "M"; return ""; }
    const piece = `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = "L";
    return piece;
  }).join("");
}

// The curve with its interval band over the K values.
function curve(values, mean, low, high, { yName, title, line = null, floor = null, side = "", ends, height = 300, width = across() }) {
  const all = [...mean, ...low, ...high, ...(floor ?? [])].filter((v) => v !== null);
  if (line !== null) all.push(line);
  const span = Math.max(...all) - Math.min(...all) || 1;
  const y = [Math.min(...all) - 0.06 * span, Math.max(...all) + 0.06 * span], x = [values[0], values[values.length - 1]];
  const { root, px, py } = axes({ x, y, xTicks: values, yTicks: steps(y[0], y[1]), xName: "value of the attribute", yName, ends, title, height, width });
  const seen = [Math.max(-1, x[0]), Math.min(1, x[1])];
  root.append(svg("rect", { class: "seen", x: px(seen[0]), width: px(seen[1]) - px(seen[0]), y: 12, height: height - 58 }));
  if (line !== null) root.append(svg("line", { class: "axis", x1: px(x[0]), x2: px(x[1]), y1: py(line), y2: py(line) }));
  if (floor) {
    root.append(svg("rect", { class: "band", x: px(x[0]), width: px(x[1]) - px(x[0]), y: py(floor[2]), height: py(floor[1]) - py(floor[2]) }),
      svg("line", { class: "axis", "stroke-dasharray": "5 3", x1: px(x[0]), x2: px(x[1]), y1: py(floor[0]), y2: py(floor[0]) }),
      svg("text", { x: px(x[1]), y: py(floor[2]) - 5, "text-anchor": "end" }, "two people"));
  }
  const there = values.map((_, k) => k).filter((k) => mean[k] !== null && low[k] !== null && high[k] !== null);
  const outline = [...there.map((k) => [px(values[k]), py(high[k])]), ...[...there].reverse().map((k) => [px(values[k]), py(low[k])])];
  root.append(svg("path", { class: `band ${side}`, d: `${pathOf(outline)}Z` }),
    svg("path", { class: `curve ${side}`, d: pathOf(there.map((k) => [px(values[k]), py(mean[k])])) }));
  for (const k of there) root.append(svg("circle", { class: `dot ${side}`, cx: px(values[k]), cy: py(mean[k]), r: 4 }));
  return root;
}
