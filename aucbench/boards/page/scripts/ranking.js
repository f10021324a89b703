// The overall ranking: a table whose middle is a picture.

function rankingSection(overall) {
  const { order, complete } = standing(overall);
  const place = new Map(order.map((each, index) => [each.method, index]));
  const names = [...overall.methods].sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || naturally(a, b));
  const gaps = overall.incomplete.size > 0 || names.some((name) => overall.ranks.get(name)?.value !== overall.ranks_with_gaps.get(name)?.value);
  const found = [...overall.ranks.values(), ...(gaps ? overall.ranks_with_gaps.values() : [])].flatMap((rank) => [rank.value, rank.low, rank.high]).filter(known);
  const most = Math.max(overall.methods.length, 2);
  const scale = linearScale(Math.max(0.5, Math.min(1, ...found)), Math.max(most, ...found), 12, whiskerWidth() - 12, 34);
  const columns = [h("th", { scope: "col", class: "num" }, h("span", { class: "sr" }, "Place")), h("th", { scope: "col" }, "Method"),
    h("th", { scope: "col", class: "whiskers" }, rankAxis(scale)), h("th", { scope: "col", class: "num" }, "Average rank"),
    h("th", { scope: "col", class: "txt" }, "Groups"), h("th", { scope: "col", class: "num" }, "W / T / L"),
    h("th", { scope: "col", class: "num", title: "Mean over the data sets, with its 95 % interval over the data sets" }, GAIN),
    gaps ? h("th", { scope: "col", class: "num" }, "Rank on available data sets") : null, gaps ? h("th", { scope: "col", class: "num" }, "Missing data sets") : null];
  const letters = [...new Set([...overall.groups.values()].join(""))].sort();
  const lines = names.map((name) => rankingLine(overall, name, { place: place.get(name), scale, letters, gaps, complete }));
  return section("ranking", "Ranking",
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ranking" },
      h("table", { class: "ranking" }, h("caption", { class: "sr" }, "Average rank of every method"), h("thead", null, h("tr", null, columns)), h("tbody", null, lines))),
    reading("The dot is the average rank over the data sets (further left is better), the line its confidence interval", gaps ? ", the ring the average rank on the available data sets" : "", ". ", overall.letters,
      " W / T / L sums the wins, ties and losses of all data sets' boards.", overall.baseline_reason ? ` There are no gains: ${overall.baseline_reason}.` : ""),
    incompleteness(overall, gaps));
}

function whiskerWidth() {
  return Math.max(120, Math.min(520, room() - 860));
}

function rankAxis(scale) {
  const width = whiskerWidth();
  return s("svg", { class: "plot", width, height: 18, viewBox: `0 0 ${width} 18`, role: "img", "aria-label": "Scale of ranks" },
    scale.ticks.filter(Number.isInteger).map((tick) => s("text", { x: scale.at(tick), y: 13, "text-anchor": "middle" }, String(tick))));
}

function rankingLine(overall, name, { place, scale, letters, gaps, complete }) {
  const rank = overall.ranks.get(name);
  const gapped = overall.ranks_with_gaps.get(name);
  const missing = overall.incomplete.get(name) || [];
  const why = missing.length ? `gaps on ${list(missing)}` : "no board is complete for it";
  const range = known(rank?.low) && known(rank?.high) ? h("span", { class: "soft range" }, ` ${rank.bounds}`) : null;
  const counts = [overall.wins, overall.ties, overall.losses].map((each) => each.get(name) ?? 0);
  const own = overall.groups.get(name) || "";
  return h("tr", { class: place === 0 ? "lead" : null },
    h("td", { class: "num soft" }, place === undefined ? nothing(why) : String(place + 1)),
    h("th", { scope: "row" }, methodLink(name)),
    h("td", { class: "whiskers" }, whisker(name, rank, gaps ? gapped : null, scale)),
    h("td", { class: "num" }, known(rank?.value) ? [h("b", null, rank.shown), range] : nothing(why)),
    h("td", { class: "txt" }, own ? h("span", { class: "letters", "aria-label": [...own].join(" ") }, letters.map((letter) => h("i", { class: own.includes(letter) ? "on" : null }, own.includes(letter) ? letter : "·"))) : nothing("not compared")),
    h("td", { class: "num" }, counts.some((count) => count > 0) ? counts.join(" / ") : nothing("not compared with others")),
    h("td", { class: "num" }, overall.gains_shown.get(name) === "-" ? nothing("no data set on which neither has gaps") : overall.gains_shown.get(name)),
    gaps ? h("td", { class: "num" }, known(gapped?.value) ? gapped.shown : nothing("it has no finished board")) : null,
    gaps ? h("td", { class: "num" }, missing.length ? h("span", { class: "badge", title: list(missing) }, many(missing.length, "data set")) : h("span", { class: "soft" }, complete ? "none" : "–")) : null);
}

function whisker(name, rank, gapped, scale) {
  const width = whiskerWidth();
  const style = lookOf(name);
  const has = known(rank?.value);
  const label = has ? `${name}: average rank ${rank.shown}` : `${name}: no rank without gaps`;
  return s("svg", { class: "plot", width, height: 22, viewBox: `0 0 ${width} 22`, role: "img", "aria-label": label },
    scale.ticks.filter(Number.isInteger).map((tick) => s("path", { class: "grid", d: `M${scale.at(tick)} 0V22` })),
    known(rank?.low) && known(rank?.high) ? s("path", { d: `M${scale.at(Math.max(rank.low, 0.5))} 11H${scale.at(rank.high)}`, stroke: style.colour, "stroke-width": 2.5, "stroke-linecap": "round", opacity: 0.55 }) : null,
    known(gapped?.value) ? s("circle", { cx: scale.at(gapped.value), cy: 11, r: 6.5, fill: "none", stroke: style.colour, "stroke-width": 1.2 }) : null,
    has ? markerShape(style, scale.at(rank.value), 11, 4) : null);
}

function incompleteness(overall, gaps) {
  if (!gaps) return h("p", { class: "soft" }, "No method has gaps.");
  const found = [...overall.incomplete].filter(([, sets]) => sets.length).sort((a, b) => b[1].length - a[1].length || naturally(a[0], b[0]));
  if (!found.length) return h("p", { class: "soft" }, "The two columns of ranks differ because not every method is on every board.");
  return h("details", { class: "incomplete" }, h("summary", null, `What is incomplete: ${many(found.length, "method")} with gaps`),
    h("p", null, "Average ranks leave these methods or boards out; ranks on available data sets average over the boards that a method is on, which may be the easier ones."),
    h("ul", null, found.map(([name, sets]) => h("li", null, methodLink(name), `: ${list(sets)}`))));
}
