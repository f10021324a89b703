// Pictures of a group of boards: the ranking, all results at a glance, critical differences and profiles.

// A table whose middle is a picture.
function rankingSection(group) {
  const { lines } = group;
  const bounds = (line) => [line.rank.value, line.rank.low, line.rank.high, line.gapped];
  const gaps = lines.some((line) => line.missing.length || (known(line.gapped) && line.gapped !== line.rank.value));
  const found = lines.flatMap(bounds).filter(known);
  const scale = linearScale(Math.max(0.5, Math.min(1, ...found)), Math.max(lines.length, 2, ...found), 12, whiskerWidth() - 12, 34);
  const columns = report.method_columns.filter(({ key }) => key !== "method" && (gaps || !["gapped", "missing"].includes(key)));
  const lit = highlightsOf(group);
  return section("ranking", "Ranking",
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ranking" },
      h("table", { class: "ranking" }, h("caption", { class: "sr" }, "Average rank of every method"),
        h("thead", null, h("tr", null, h("th", { scope: "col", class: "num" }, h("span", { class: "sr" }, "Place")), h("th", { scope: "col" }, "Method"),
          h("th", { scope: "col", class: "whiskers" }, rankAxis(scale)),
          columns.map((column) => h("th", { scope: "col", class: column.left ? "txt" : "num", title: column.hint }, column.label)))),
        h("tbody", null, lines.map((line) => h("tr", { class: `${line.place === 1 ? "lead" : ""}${lit.has(line.method) ? "" : " rest"}`, "data-method": line.method },
          h("td", { class: "num soft" }, line.place ? String(line.place) : nothing(line.cells.rank[2])),
          h("th", { scope: "row" }, methodLink(line.method)),
          h("td", { class: "whiskers" }, whisker(line, scale, gaps)),
          columns.map((column) => h("td", { class: column.left ? "txt" : "num" }, rankingCell(column.key, line)))))))),
    reading("The dot is the average rank over the data sets (further left is better), the line its confidence interval", gaps ? ", the ring the average rank on the available data sets" : "", ". ", group.ties,
      " W/T/L sums the wins, ties and losses of all data sets.", group.baseline_reason ? ` There are no gains: ${group.baseline_reason}.` : ""),
    incompleteness(lines, gaps));
}

function rankingCell(key, line) {
  const [text, , reason] = line.cells[key];
  if (reason) return nothing(reason);
  if (key === "rank") return h("b", null, text);
  if (key === "missing") return badge(text, list(line.missing));
  return text;
}

function whiskerWidth() {
  return Math.max(120, Math.min(520, room() - 960));
}

function rankAxis(scale) {
  return picture(whiskerWidth(), 18, "Scale of ranks",
    scale.ticks.filter(Number.isInteger).map((tick) => s("text", { x: scale.at(tick), y: 13, "text-anchor": "middle" }, String(tick))));
}

function whisker({ method, rank, gapped, cells }, scale, gaps) {
  const style = lookOf(method);
  const label = known(rank.value) ? `${method}: average rank ${cells.rank[0]}` : `${method}: no rank without gaps`;
  return picture(whiskerWidth(), 22, label,
    scale.ticks.filter(Number.isInteger).map((tick) => s("path", { class: "grid", d: `M${scale.at(tick)} 0V22` })),
    known(rank.low) && known(rank.high) ? s("path", { class: "interval", d: `M${scale.at(Math.max(rank.low, 0.5))} 11H${scale.at(rank.high)}`, stroke: style.colour, "stroke-width": 2.5, "stroke-linecap": "round", opacity: 0.55 }) : null,
    gaps && known(gapped) ? s("circle", { cx: scale.at(gapped), cy: 11, r: 6.5, fill: "none", stroke: style.colour, "stroke-width": 1.2 }) : null,
    known(rank.value) ? markerShape(style, scale.at(rank.value), 11, 4) : null);
}

function incompleteness(lines, gaps) {
  if (!gaps) return h("p", { class: "soft" }, "No method has gaps.");
  const found = lines.filter((line) => line.missing.length);
  if (!found.length) return h("p", { class: "soft" }, "The two columns of ranks differ because not every method is on every board.");
  return h("details", { class: "incomplete" }, h("summary", null, `What is incomplete: ${many(found.length, "method")} with gaps`),
    h("p", null, "Average ranks leave these methods or boards out; ranks on available data sets average over the boards that a method is on, which may be the easier ones."),
    h("ul", null, found.map((line) => h("li", null, methodLink(line.method), `: ${list(line.missing)}`))));
}

// Every method on every data set at a glance.
function heatSection(group) {
  const names = namesOf(group);
  return section("glance", "All results at a glance",
    partsOf(group.boards, names).map((boards) => matrix(`Mean test ${report.measure.title} of every method on every data set`, "heat",
      boards.map((board) => h("span", null, boardLink(board))), names, (method) => boards.map((board) => heatCell(board, method)))),
    reading(`Mean test ${report.measure.title}. The stronger the blue of a cell, the better its place on that data set; bold is the best. Follow a name for the details.`));
}

// A table of methods whose columns have upright headings.
function matrix(caption, kind, heads, names, cellsOf) {
  return h("div", { class: "scroll fit", tabindex: 0, role: "region", "aria-label": caption },
    h("table", { class: `matrix ${kind}` }, h("caption", { class: "sr" }, caption),
      h("thead", null, h("tr", null, h("td", null), heads.map((head) => h("th", { scope: "col", class: "upright" }, head)))),
      h("tbody", null, names.map((name) => h("tr", { "data-method": name }, h("th", { scope: "row" }, methodLink(name)), cellsOf(name))))));
}

function heatCell(board, method) {
  const row = board.rows.find((each) => each.method === method);
  if (!row) return h("td", null, nothing("not on this board"));
  const { shade, trouble, mean, cells } = row;
  if (!known(shade)) return h("td", null, nothing(trouble || "no run has finished"));
  return h("td", { class: shade === 1 ? "best" : null, vars: { "--share": shade.toFixed(2) }, title: `${method} on ${board.dataset}: ${cells.rank[2] || `rank ${cells.rank[0]}`}` },
    mean.replace(/^0/, ""), trouble ? h("sup", { "aria-label": trouble }, "!") : null);
}

// Demšar's critical-difference diagram.
function criticalSection(group) {
  const ranked = group.lines.filter((line) => known(line.rank.value));
  if (!group.friedman || ranked.length < 2) {
    return section("critical", "Critical differences", h("p", null, group.friedman_text || "They were not computed."));
  }
  return section("critical", "Critical differences",
    figure(live(HIGHLIGHT, () => criticalPicture(ranked, group)),
      "Methods are placed at their average rank, the best on the left. A thick bar joins methods that Nemenyi's test does not tell apart: ",
      "their ranks are closer than the critical difference. ", group.friedman_text,
      " Ties and pairs on this page are from Wilcoxon's tests, which may see differences that Nemenyi's does not, and the other way round."));
}

function criticalPicture(ranked, group) {
  const { cliques, friedman } = group;
  const lit = highlightsOf(group);
  const width = Math.min(room(), 900);
  const side = width > 600 ? 160 : 96;
  const last = Math.max(Math.ceil(ranked[ranked.length - 1].rank.value), ranked.length);
  const scale = linearScale(1, last, side, width - side);
  const places = new Map(ranked.map(({ method, rank }) => [method, scale.at(rank.value)]));
  const axis = 58;
  const start = axis + 14 + cliques.length * 8 + 12;
  const half = Math.ceil(ranked.length / 2);
  return picture(width, start + half * 18 + 6, "Critical-difference diagram by Nemenyi's test",
    s("path", { class: "base", d: `M${side} ${axis}H${width - side}` }),
    scale.ticks.map((tick) => [s("path", { class: "base", d: `M${scale.at(tick)} ${axis - 5}v5` }), s("text", { x: scale.at(tick), y: axis - 10, "text-anchor": "middle" }, String(tick))]),
    s("path", { class: "ruler", d: `M${side} 18V26M${side} 22H${Math.min(width - 4, scale.at(1 + friedman.critical_difference))}m0 -4v8` }),
    s("text", { x: side, y: 12 }, `critical difference ${fixed(friedman.critical_difference, 2)}`),
    cliques.map((members, k) => {
      const own = members.map((method) => places.get(method));
      return s("path", { class: "clique", "data-methods": members.join(", "), d: `M${Math.min(...own) - 4} ${axis + 12 + k * 8}H${Math.max(...own) + 4}` });
    }),
    ranked.map(({ method, cells }, k) => {
      const first = k < half;
      const y = start + (first ? k : ranked.length - 1 - k) * 18;
      const to = first ? side - 8 : width - side + 8;
      return s("g", { class: lit.has(method) ? "stem" : "stem rest", "data-method": method }, s("path", { d: `M${places.get(method)} ${axis}V${y}H${to}`, fill: "none", stroke: lookOf(method).colour, "stroke-width": 1.2 }),
        s("text", { x: first ? to - 4 : to + 4, y: y + 4, "text-anchor": first ? "end" : "start" },
          `${short(method, width > 600 ? 18 : 10)} ${cells.rank[0]}`, s("title", null, method)));
    }));
}

// How often a method is near the best.
function profileSection(group) {
  const { profile } = group;
  if (!profile.length) return null;
  const xs = profile.flatMap(([, ratio]) => ratio).filter(known);
  const log = Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 20;
  return section("profile", "Performance profile",
    live(HIGHLIGHT, () => sharePlot(profile, highlightsOf(group), {
      x: { kind: log ? "log" : "linear", label: `(1 − ${report.measure.symbol}) relative to the best method`, short: "within a factor of", format: tidy }, what: "share of data sets",
    })),
    reading(`The share of data sets (height) on which 1 − ${report.measure.symbol} of a method is within a factor (x axis) of that of the best method; higher is better. `,
      "The value at the left edge is the share of data sets on which it is best."));
}
