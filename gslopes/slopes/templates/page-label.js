const waitingPlots = []; // drawn once their panel can be seen, since their width is its own
const MEASURED = "by its measure"; // the estimator whose unit is that of each label
const firstOf = (finding) => [MEASURED, "photo-rate"].find((name) => name in finding.estimators) ?? Object.keys(finding.estimators)[0];
const PLACEBOS = { same: "same picture", light: "light alone", random: "random change" };

// One label: its curve with the interval band, its other estimates, its slopes by group, the photos that moved most.
function openLabel(panel, section, finding, i) {
  const label = finding.labels[i], first = finding.estimators[firstOf(finding)], unit = finding.units[i];
  const form = formatFor(unit), from = document.activeElement;
  const heading = el("h4", { tabindex: "-1" }, label);
  const close = () => {
    panel.hidden = true;
    if (from?.isConnected && from !== document.body) from.focus(); else panel.parentElement.querySelector("button.label")?.focus();
  };
  panel.onkeydown = (event) => { if (event.key === "Escape") close(); };
  panel.replaceChildren(el("div", { class: "panel-head" }, heading, el("button", { class: "plain", onclick: close }, "Close")), ...summary(), ...figure(), ...others(), groups(),
    comparisonOf("differences", section, finding, i, "Differences between groups"), photos());
  panel.hidden = false;
  for (const [place, build] of waitingPlots.splice(0)) drawn(place, build);
  heading.focus();
  panel.scrollIntoView({ block: "nearest" });

  function summary() {
    if (first.slope[i] === null) return [el("p", {}, "This label has no slope.")];
    const more = section.ends[first.slope[i] < 0 ? 0 : 1], size = form(Math.abs(first.slope[i])).replace("+", "");
    const plain = inPoints(unit) ? "" : `Its ${ofOdds(unit) ? "score's odds change" : "number changes"} by ${form(first.slope[i])} per unit toward ${section.ends[1]}, 95 % interval ${interval(first.ci_low[i], first.ci_high[i], form)}. ${many(finding.n[i], "photo")}. It is an association under this edit.`;
    return [el("p", {}, decision(finding.decision[i], "", finding.expected[i]), finding.why[i] ? ` ${finding.why[i]}. ` : " ", plain ||
      `Returned more often the more ${more} the face looks: by ${size}${inPoints(unit) ? (size === "1.0" ? " percentage point" : " percentage points") : ""} per unit, 95 % interval ${interval(first.ci_low[i], first.ci_high[i], form)}. ` +
      `${many(finding.n[i], "photo")}, ${finding.active[i]} with the label at one value at least. It is an association under this edit.`)];
  }

  function figure() {
    if (!finding.share[i]) return [];
    const share = inPoints(unit), place = el("div", {}), inPercent = (column) => column[i].map((value) => (value === null ? null : share ? 100 * value : value));
    const [mean, low, high] = [finding.share, finding.low, finding.high].map(inPercent);
    waitingPlots.push([place, (width) => curve(section.values, mean, low, high, {
      width, yName: share ? "% of photos with it" : "mean over photos", line: finding.line[i], side: sideOf(first.slope[i]), ends: section.ends, shares: share, format: (v) => (share ? `${short(v)} %` : short(v)),
      title: `Curve of ${label}: ` + section.values.map((value, k) => `${share ? percent(finding.share[i][k]) : short(finding.share[i][k])} at ${short(value)}`).join(", "),
    })]);
    return [el("figure", {}, place, el("figcaption", {}, `${share ? "Share of photos with the label" : "Mean of the label's number"} at each value, with its 95 % interval over photos (${share ? "Wilson" : "t"}); dashed: the line ${share ? "whose slope is given" : "through the means"}. ` +
      "Shaded: the range that the editor saw in training." + clustered()))];
  }

  function clustered() {
    const [used, units] = section.clusters;
    return used ? ` The fit took these ${many(used, "photo")} as ${many(units, "unit")}, as its clusters say; this band takes each photo as its own, and is too narrow. The intervals of the slopes are not.` : "";
  }

  function others() {
    const rows = Object.entries(finding.estimators).map(([name, e]) => {
      const write = name === MEASURED ? form : formatFor(e.unit);
      return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "num" }, write(e.slope[i])), el("td", { class: "interval" }, interval(e.ci_low[i], e.ci_high[i], write)),
        el("td", { class: "num" }, probability(chance(finding, name, i))), el("td", { class: "num" }, probability(e.q[i])), el("td", {}, sourceOf(finding, name, i)), el("td", {}, name === MEASURED ? unit : e.unit), el("td", { class: "reason" }, e.note[i]));
    });
    for (const [kind, f] of Object.entries(finding.floor)) {
      rows.push(el("tr", {}, el("th", { scope: "row" }, `placebo: ${PLACEBOS[kind] ?? kind}`), el("td", { class: "num" }, form(f.placebo_slope[i])),
        el("td"), el("td"), el("td"), el("td"), el("td", {}, unit), el("td", { class: "reason" }, `this label's slope against it, photo by photo: ${form(f.difference[i])} ${interval(f.ci_low[i], f.ci_high[i], form)}`)));
    }
    return [el("h5", {}, "By estimator"), grid(["Estimator", "Slope", "95 % interval", "p", "q", "p is from", "Unit", "Note"], rows, `Estimates of ${label}`)];
  }

  function groups() {
    const place = el("div", { class: "groups" });
    if (section.groups) {
      load(section.groups).then((all) => {
        const rows = all[i] ?? [], most = 1.2 * Math.max(1e-6, ...rows.map((row) => (row[4] === null ? 0 : Math.abs(row[3]))));
        if (!rows.length) return;
        place.append(el("h5", {}, "By group of photos"), grid(["Column", "Group", "n", "Slope", "95 % interval", "Drawn", "p", "q"],
          rows.map(([column, group, n, slope, low, high, p, q]) => el("tr", {}, el("th", { scope: "row" }, column), el("td", {}, group), el("td", { class: "num" }, String(n)),
            el("td", { class: "num" }, form(slope)), el("td", { class: "interval" }, interval(low, high, form)),
            el("td", { class: "drawn" }, whisker(low, slope, high, most)), el("td", { class: "num" }, probability(p)), el("td", { class: "num" }, probability(q)))), `Groups of ${label}`));
      }, (error) => place.append(el("p", { class: "none" }, error.message)));
    }
    return place;
  }

  function photos() {
    const place = el("div", { class: "moved" }), rows = finding.moved[i] ?? [];
    if (rows.length) {
      load("photos").then((album) => {
        roving(place, ".moved-photo button");
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
  const file = stripOf(album, section.attribute, photo), name = album.names[photo], side = slope < 0 ? "neg" : "pos";
  const strip = file ? el("div", { class: "strip" }, el("img", { src: file, loading: "lazy", alt: `${name} at all values` })) : null;
  const numbers = el("div", { class: `strip scores ${side}` }, ...apart(scores).map((score) => el("span", {}, score)));
  const open = el("button", { class: "plain", onclick: () => showPhoto(photo, section.attribute) }, "Open in the explorer");
  return el("div", { class: "moved-photo" }, el("p", {}, `${name} `, open), strip, numbers, credit(album, photo));
}
