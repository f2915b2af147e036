// Untrusted texts (labels, file names, groups) reach the page through textContent and setAttribute alone.
const page = JSON.parse(document.getElementById("page-data").textContent);
for (const section of page.sections) section.classifier = section.classifier.replace(/(?<=[=:])(\/(?!\/)[^,]*\/|[A-Z]:\\[^,]*\\)/g, ""); // as report.words.model
const arrived = new Map(), asked = new Map();
window.gslopes = (name, content) => arrived.set(name, content);

// A data file comes through a script element: the one road that is open when the page lies on a disk.
function load(name) {
  if (!asked.has(name)) {
    asked.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onload = () => (arrived.has(name) ? resolve(arrived.get(name)) : reject(new Error(name)));
      script.onerror = () => reject(new Error(`data/${name}.js is not next to this page`));
      document.head.append(script);
    }));
  }
  return asked.get(name);
}

// As gslopes.stats.multiplicity.is_finding decides.
function isFinding(q, low, high) {
  return q !== null && q < 0.05 && !(low <= 0 && high >= 0);
}

// On paper every row is there, see fold.js for closed parts; afterwards the screen is as it was. Parts not built yet stay out.
const onPaper = [];
addEventListener("beforeprint", () => { for (const { before } of onPaper) before(); });
addEventListener("afterprint", () => { for (const { after } of onPaper) after(); });

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

// -- numbers: as gslopes.report.words writes them ---------------------------------------------------------------------

const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

const minus = (text) => text.replace("-", "−");

// As core.text.nudged: what is half of a digit but for rounding is rounded up, in every browser and on every processor.
const nudged = (number) => number + Math.sign(number) * Math.min(Math.abs(number), 1e3) * 2 ** -20;

// Percentage points: one decimal. toFixed rounds halves away from 0, and so does words.points.
function points(number) {
  if (number === null || number === undefined) return "–";
  if (number === 0) return "0";
  const size = nudged(Math.abs(number)).toFixed(1);
  return size === "0.0" ? size : (number < 0 ? "−" : "+") + size;
}

// The paper's slopes and log odds: three decimals.
function signed(number, digits = 3) {
  if (number === null || number === undefined) return "–";
  if (number === 0) return "0";
  const size = nudged(Math.abs(number)), large = size < 1e9 ? Math.round(size).toLocaleString("en") : size.toPrecision(3);
  const text = size >= 100 ? large : size.toFixed(digits);
  return Number(text) === 0 ? text : (number < 0 ? "−" : "+") + text;
}

const whole = (text) => text.replace(/\.0+(?=$| )/, ""); // of a tick: +50 for +50.0, and 0 for 0.000

// Scores in thousandths: as many decimals as it takes to see how they differ, as report.numbers.apart.
function apart(thousandths) {
  const known = thousandths.filter((one) => one !== null && one !== undefined).map((one) => one / 1000);
  const span = nudged(known.length ? Math.max(...known) - Math.min(...known) : 0);
  const digits = span >= 500 ? 0 : span >= 5 ? 1 : span >= 0.02 || span < 1e-9 ? 2 : Math.min(5, 1 - Math.floor(Math.log10(span)));
  return thousandths.map((one) => (one === null || one === undefined ? "–" : minus(nudged(one / 1000).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }))));
}

const inPoints = (unit) => unit.startsWith("percentage");
const ofOdds = (unit) => unit.startsWith("%"); // slopes of log-odds, written as changes of the odds
const formatFor = (unit) => (inPoints(unit) ? points : ofOdds(unit) ? (v) => (v === null || v === undefined ? points(v) : `${points(100 * Math.expm1(v))} %`) : signed);
function interval(low, high, form = points) {
  if (low === null || high === null) return "–";
  const text = `[${form(low)}, ${form(high)}]`;
  return /[^[0., %\]]/.test(text) ? text : form(0);
}

function probability(number) {
  if (number === null || number === undefined) return "–";
  if (number === 0) return "0";
  if (number < 1e-15) return "<1e−15";
  return minus(number < 0.001 ? nudged(number).toExponential(1) : String(Number(nudged(number).toPrecision(2))));
}

const percent = (share) => (share === null ? "–" : `${nudged(100 * share).toFixed(1)} %`);
const short = (value) => minus(String(Number(nudged(value).toPrecision(3))));

// -- small pieces -----------------------------------------------------------------------------------------------------

// A long name may be broken after _ - / . only.
const breakable = (text) => text.split(/(?<=[_/.-])/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));

function field(title, control) {
  return el("label", { class: "field" }, el("span", {}, title), control);
}

function choice(options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [name, title] of options) select.append(el("option", { value: name, selected: name === value }, title));
  return select;
}

// Many controls of one kind are one stop of the Tab key; arrows, Home and End go from one to the next.
function roving(root, selector) {
  const all = () => [...root.querySelectorAll(selector)];
  const stop = (chosen) => { for (const one of all()) one.setAttribute("tabindex", one === chosen ? "0" : "-1"); };
  const settle = () => { const items = all(); stop(items.find((one) => one.getAttribute("aria-pressed") === "true") ?? items[0]); };
  root.addEventListener("focusin", (event) => { const one = event.target.closest(selector); if (one) stop(one); });
  root.addEventListener("keydown", (event) => {
    const items = all(), at = items.indexOf(event.target.closest?.(selector));
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    items[Math.max(0, Math.min(items.length - 1, to))].focus();
  });
  new MutationObserver(settle).observe(root, { childList: true, subtree: true });
  settle();
  return root;
}

// An untrusted link: to http(s) alone, without a referrer. Else the text.
function outward(text, address) {
  return /^https?:\/\//.test(address) ? el("a", { href: address, rel: "noreferrer noopener" }, text) : text;
}

// The picture of a photo's sweep: K squares; null if the report has none.
function stripOf(album, attribute, photo) {
  const strips = album.strips[attribute];
  if (!strips) return null;
  strips.lacking ??= new Set(strips.without);
  return strips.lacking.has(photo) ? null : `${strips.folder}/${album.ids[photo]}.webp`;
}

// Who made a collected photo, under which licence, and where it was found.
function credit(album, photo) {
  const source = album.credits?.[photo];
  if (!source) return null;
  const parts = [source.title, outward(source.creator || "creator not stated", source.creator_url), outward(source.licence || "no licence stated", source.licence_url)];
  if (source.page) parts.push(outward("source", source.page));
  return el("p", { class: "credit" }, ...parts.filter((part) => part !== "").flatMap((part, i) => (i ? [", ", part] : [part])));
}

// -- decisions: finding or none, with a word, a colour and a shape ----------------------------------------------------

const DECISIONS = page.decisions ?? {};
const moves = (code) => code === "finding" || code === "open";
const sideOf = (slope) => (slope < 0 ? "neg" : "pos");
function colourOf(code, slope) {
  if (code === "finding" || code === "open") return `var(--${sideOf(slope)})`;
  return code === "placebo" ? "var(--like)" : "var(--soft)";
}
const symbolOf = (code) => ({ finding: "circle", open: "triangle", placebo: "diamond", none: "circle", unjudged: "times" })[code] ?? "circle";
const filled = (code) => code === "finding" || code === "placebo";

function decision(code, why, expected = false) {
  return el("span", { class: `decision d-${code}`, title: why || DECISIONS[code]?.about || null }, `${DECISIONS[code]?.word ?? code}${expected ? ", expected" : ""}`);
}
