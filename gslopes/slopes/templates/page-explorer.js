// The explorer: a list of photos, one photo's pictures under a slider, every classifier's scores moving with it.
const LISTED = 24;
const nearest0 = (values) => values.reduce((best, value, i) => (Math.abs(value) < Math.abs(values[best]) ? i : best), 0);
const ATTRIBUTES = Object.fromEntries((page.sections ?? []).filter((one) => one.values.length).map((one) => [one.attribute, { ...one, middle: nearest0(one.values) }]));
let showPhoto = () => {};

function explorerApp(root, album) {
  const names = Object.keys(ATTRIBUTES), state = { attribute: names[0], photo: 0, step: 0, from: 0, text: "" };
  const hits = () => album.names.map((_, i) => i).filter((i) => album.names[i].toLowerCase().includes(state.text));
  const list = roving(el("ul", { class: "album", "aria-label": "Photos; arrow keys go from one to the next" }), "button"), pages = el("p", { class: "count", role: "status" });
  const back = el("button", { class: "plain", onclick: () => { state.from -= LISTED; listPhotos(); } }, "Earlier photos");
  const on = el("button", { class: "plain", onclick: () => { state.from += LISTED; listPhotos(); } }, "More photos");
  const text = el("input", { type: "search", oninput: () => { state.text = text.value.trim().toLowerCase(); state.from = 0; listPhotos(); } });
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Value of the attribute", oninput: () => { state.step = Number(slider.value); move(); } });
  const title = el("h3", { tabindex: "-1" }), now = el("output", { class: "now" }), frame = el("div", { class: "frame" }), ends = el("p", { class: "ends" });
  const scores = el("div", { class: "scores-now" }), credited = el("div", {});
  const pick = choice(names.map((name) => [name, ATTRIBUTES[name].perceived]), state.attribute, (value) => { state.attribute = value; state.step = ATTRIBUTES[value].middle; choose(); listPhotos(); });
  let bars = [];

  function steps() { return ATTRIBUTES[state.attribute].values.length; }

  function crop(photo, step) {
    const file = stripOf(album, state.attribute, photo), K = steps();
    if (!file) return null;
    const image = el("img", { src: file, alt: "", loading: "lazy", class: "cells" }); // K squares, one of them in the frame
    image.style.width = `${100 * K}%`;
    image.style.transform = `translateX(${(-100 * step) / K}%)`;
    return image;
  }

  function listPhotos() {
    const found = hits();
    state.from = Math.max(0, Math.min(state.from, found.length - 1));
    const shown = found.slice(state.from, state.from + LISTED);
    list.replaceChildren(...shown.map((photo) => el("li", {}, el("button", {
      class: "photo", "aria-pressed": String(photo === state.photo), onclick: () => { state.photo = photo; choose(); listPhotos(); list.querySelector("[aria-pressed=true]")?.focus(); },
    }, el("span", { class: "thumb" }, crop(photo, ATTRIBUTES[state.attribute].middle)), el("span", { class: "file" }, album.names[photo])))));
    pages.textContent = found.length ? `${state.from + 1}–${state.from + shown.length} of ${many(found.length, "photo")}` : "No photo of that name";
    back.hidden = state.from === 0;
    on.hidden = state.from + LISTED >= found.length;
  }

  function choose() {
    title.textContent = album.names[state.photo] ?? "";
    credited.replaceChildren(...[credit(album, state.photo)].filter(Boolean));
    slider.max = steps() - 1;
    const two = ATTRIBUTES[state.attribute].ends;
    ends.replaceChildren(el("span", {}, `← ${two[0]}`), el("span", {}, `${two[1]} →`));
    const face = crop(state.photo, state.step);
    frame.replaceChildren(face ?? el("p", { class: "none" }, "no picture in this report"));
    if (face) { face.className += " face"; face.loading = "eager"; }
    scores.replaceChildren(el("p", { class: "none" }, "reading the scores"));
    const photo = state.photo, attribute = state.attribute, chunk = Math.floor(photo / page.perFile);
    bars = [];
    load(`scores-${chunk}`).then((content) => {
      if (photo === state.photo && attribute === state.attribute) fill(content.photos[photo - content.start] ?? {});
    }, (error) => scores.replaceChildren(el("p", { class: "none" }, error.message)));
    move();
  }

  const folded = (title, ...children) => el("details", { class: "screen" }, el("summary", {}, title), ...children);

  function fill(byFinding) {
    const parts = [], sections = page.sections.filter((one) => one.attribute === state.attribute);
    const first = sections.length > 1 ? 4 : 8, why = album.dropped[state.attribute]?.[state.photo];
    bars = [];
    if (why) parts.push(el("p", { class: "none" }, `No classifier was asked about this sweep: ${why}.`));
    for (const section of sections) {
      const steep = (byFinding[section.key] ?? []).slice().sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      const rows = [...steep.slice(0, first).sort((a, b) => b[1] - a[1]), ...steep.slice(first)];
      const items = rows.map(([label, slope, numbers]) => {
        const bar = el("span", { class: "fill" }), number = el("span", { class: "score" });
        const side = Math.abs(slope) * Math.abs(section.values.at(-1) - section.values[0]) < 0.01 ? "" : slope < 0 ? "neg" : "pos";
        bars.push({ bar, number, numbers });
        return el("li", { class: side }, el("span", { class: "name" }, label), el("span", { class: "bar", "aria-hidden": "true" }, bar), number);
      });
      if (why && !items.length) continue;
      const shown = items.length ? el("ul", {}, ...items.slice(0, first)) : el("p", { class: "none" }, "no label was returned, or not every value was answered");
      parts.push(el("div", {}, el("h4", {}, section.classifier), shown, items.length > first ? folded(many(items.length - first, "more label"), el("ul", {}, ...items.slice(first))) : null));
    }
    scores.replaceChildren(...parts.slice(0, 2), ...(parts.length > 2 ? [folded(many(parts.length - 2, "more classifier"), ...parts.slice(2))] : []));
    move();
  }

  function move() {
    const { values, ends: two, middle, named } = ATTRIBUTES[state.attribute], value = values[state.step];
    slider.value = state.step;
    const spoken = named ? two[state.step] : `${value > 0 ? "+" : ""}${short(value)}${state.step === middle ? ", neutral" : `, more ${two[value < 0 ? 0 : 1]}`}`;
    slider.setAttribute("aria-valuetext", spoken);
    now.textContent = spoken;
    const face = frame.querySelector("img");
    if (face) {
      face.alt = `${album.names[state.photo]} at ${spoken}`;
      face.style.transform = `translateX(${(-100 * state.step) / values.length}%)`;
    }
    for (const { bar, number, numbers } of bars) {
      const score = numbers[state.step];
      const share = numbers.every((one) => one === null || (one >= 0 && one <= 1000)); // a number in a unit of its own has no bar
      bar.style.width = `${share ? Math.max(0, score) / 10 : 0}%`;
      number.textContent = apart(numbers)[state.step] ?? "–";
    }
  }

  showPhoto = (photo, attribute) => {
    Object.assign(state, { photo, attribute, step: ATTRIBUTES[attribute].middle, text: "", from: Math.floor(photo / LISTED) * LISTED });
    pick.value = attribute;
    text.value = "";
    choose();
    listPhotos();
    title.focus();
    title.scrollIntoView({ block: "start" });
  };

  root.replaceChildren(
    el("div", { class: "controls" }, album.names.length > LISTED ? field("Find a photo", text) : null, names.length > 1 ? field("Attribute", pick) : null),
    el("div", { class: "explorer" },
      el("div", { class: "side" }, pages, list, el("p", { class: "turn" }, back, on)),
      el("div", { class: "stage" }, title, frame, credited,
        el("div", { class: "drag" }, ends, slider, now),
      ),
      scores),
    el("p", { class: "method" }, "Orange and teal: the score on this photo grows towards the first and towards the second end; a dash: not returned. One photo's scores are an illustration, no estimate."));
  state.step = ATTRIBUTES[state.attribute].middle;
  state.photo = Math.max(0, album.names.findIndex((_, i) => !album.dropped[state.attribute]?.[i]));
  choose();
  listPhotos();
}
