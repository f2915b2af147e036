// One label: its curve with the interval band, its other estimates, its slopes by group, the photos that moved most.
function openLabel(panel, section, own, i) {
  const label = own.labels[i], first = own.estimators["photo-rate"] ?? Object.values(own.estimators)[0];
  const heading = el("h4", { tabindex: "-1" }, label);
  const shut = el("button", { class: "plain", onclick: () => { panel.hidden = true; } }, "Close");
  panel.replaceChildren(el("div", { class: "panel-head" }, heading, shut), ...words(), ...figure(), ...others(), ...shape(), groups(),
    comparisonOf("differences", section, own, i, "Differences between groups"), comparisonOf("joint", section, own, i, "Beside another attribute, on the same photos"), photos());
  panel.hidden = false;
  heading.focus();
  panel.scrollIntoView({ block: "nearest" });

  function words() {
    if (first.slope[i] === null) return [el("p", {}, "This label has no slope.")];
    const more = section.ends[first.slope[i] < 0 ? 0 : 1], share = first.unit.startsWith("percentage");
    const size = share ? `${Math.abs(first.slope[i]).toFixed(2)} percentage points` : signed(Math.abs(first.slope[i]));
    return [el("p", {}, `Returned more often the more ${more} the face looks: by ${size} a unit, 95 % interval ` +
      `[${signed(first.ci_low[i])}, ${signed(first.ci_high[i])}]. ${own.n[i]} photos, ${own.active[i]} with the label at one value at least. ` +
      "It is an association under this edit.")];
  }

  function figure() {
    if (!own.z[i] || own.z[i].every((z) => z === null)) return [];
    const side = first.slope[i] < 0 ? "neg" : "pos";
    const drawn = curve(section.values, own.z[i], own.low[i], own.high[i], {
      yName: "photos with it, centre = 1", line: 1, side, ends: section.ends, title: `Curve of ${label}: ` +
        section.values.map((value, k) => `${signed(own.z[i][k], 2)} at ${short(value)}`).join(", "),
    });
    return [el("figure", {}, drawn, el("figcaption", {}, "Share of photos with the label, relative to the centre, with its 95 % interval over photos (delta method). Shaded: the range that the editor saw in training." + clustered()))];
  }

  function clustered() {
    const [used, units] = section.clusters;
    return used ? ` The fit took these ${used} photos as ${units} units, as its clusters say; this band takes each photo as its own, and is too narrow. The intervals of the slopes are not.` : "";
  }

  function others() {
    const rows = Object.entries(own.estimators).map(([name, e]) => el("tr", {}, el("th", { scope: "row" }, name),
      el("td", { class: "num" }, signed(e.slope[i])), el("td", { class: "interval" }, e.slope[i] === null ? "–" : `[${signed(e.ci_low[i])}, ${signed(e.ci_high[i])}]`),
      el("td", { class: "num" }, probability(chance(own, name, i))), el("td", { class: "num" }, probability(e.q[i])), el("td", {}, e.unit), el("td", { class: "reason" }, e.note[i])));
    for (const [kind, f] of Object.entries(own.floor)) {
      rows.push(el("tr", {}, el("th", { scope: "row" }, kind === "same" ? "placebo: same picture" : "placebo: light alone"), el("td", { class: "num" }, signed(f.slope[i])),
        el("td", { class: "interval" }, `[${signed(f.ci_low[i])}, ${signed(f.ci_high[i])}]`), el("td"), el("td"), el("td", {}, "noise floor"), el("td")));
    }
    return [el("h5", {}, "By estimator"), grid(["Estimator", "Slope", "95 % interval", "p", "q", "Unit", "Note"], rows, `Estimates of ${label}`)];
  }

  function shape() {
    const s = own.shape;
    if (!s?.reading?.[i] || s.inner_slope[i] === null) return [];
    const of = (name, end) => `${signed(s[name][i])} ${interval(s[`${end}_low`][i], s[`${end}_high`][i])}`;
    return [el("h5", {}, "Shape of the curve"), el("p", {}, `Within −1 and 1, the range that the editor saw in training, the slope is ${of("inner_slope", "inner")} percentage points a unit: ` +
      `${s.reading[i].replaceAll("-1", "−1")}. Curvature ${of("curvature", "curvature")}, p ${probability(s.curvature_p[i])}; lack of fit of a line, p ${probability(s.lack_of_fit_p[i])}.`)];
  }

  function groups() {
    const place = el("div", { class: "groups" });
    if (section.groups) {
      load(section.groups).then((all) => {
        const rows = all[i] ?? [], most = 1.2 * Math.max(1e-6, ...rows.map((row) => Math.abs(row[3] ?? 0)));
        if (!rows.length) return;
        place.append(el("h5", {}, "By group of photos"), grid(["Column", "Group", "n", "Slope", "95 % interval", "Drawn", "p", "q"],
          rows.map(([column, group, n, slope, low, high, p, q]) => el("tr", {}, el("th", { scope: "row" }, column), el("td", {}, group), el("td", { class: "num" }, String(n)),
            el("td", { class: "num" }, signed(slope)), el("td", { class: "interval" }, slope === null ? "–" : `[${signed(low)}, ${signed(high)}]`),
            el("td", { class: "drawn" }, whisker(low, slope, high, most)), el("td", { class: "num" }, probability(p)), el("td", { class: "num" }, probability(q)))), `Groups of ${label}`));
      }, (error) => place.append(el("p", { class: "none" }, error.message)));
    }
    return place;
  }

  function photos() {
    const place = el("div", { class: "moved" }), rows = own.moved[i] ?? [];
    if (rows.length) {
      load("photos").then((album) => {
        place.append(el("h5", {}, "The photos that moved most"), ...rows.map(([photo, slope, ...scores]) => movedPhoto(album, section, photo, slope, scores)),
          el("p", { class: "method" }, "Chosen because they moved: an illustration, no estimate. Below each picture the label's score; a dash: not returned."));
      }, (error) => place.append(el("p", { class: "none" }, error.message)));
    }
    return place;
  }
}

function grid(titles, rows, name) {
  const numeric = ["n", "Slope", "Difference", "r", "p", "q"];
  const head = titles.map((title) => el("th", { scope: "col", class: numeric.includes(title) ? "num" : title === "Drawn" ? "drawn" : "" }, title));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}

function movedPhoto(album, section, photo, slope, scores) {
  const files = album.files[section.attribute]?.[photo] ?? [], name = album.names[photo], side = slope < 0 ? "neg" : "pos";
  const strip = el("div", { class: "strip" });
  for (const file of files) strip.append(el("img", { src: file, loading: "lazy", alt: `${name} at ${files.length === 1 ? "all values" : "one value"}` }));
  const numbers = el("div", { class: `strip scores ${side}` }, ...scores.map((score) => el("span", {}, score < 0 ? "–" : (score / 1000).toFixed(2))));
  const open = el("button", { class: "plain", onclick: () => showPhoto(photo, section.attribute) }, "Open in the explorer");
  return el("div", { class: "moved-photo" }, el("p", {}, `${name} `, open), files.length ? strip : null, numbers, credit(album, photo));
}
