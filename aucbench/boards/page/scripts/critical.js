// Demšar's critical-difference diagram.

function criticalSection(overall) {
  const critical = overall.friedman?.critical_difference;
  const ranked = standing(overall).order;
  if (!known(critical) || ranked.length < 2) {
    return section("critical", "Critical differences", h("p", null, overall.friedman_text || "They were not computed."));
  }
  return section("critical", "Critical differences",
    figure(live([], () => criticalPicture(ranked, critical, overall)),
      "Methods are placed at their average rank, the best on the left. A thick bar joins methods that Nemenyi's test does not tell apart: ",
      `their ranks are closer than the critical difference of ${overall.friedman.shown}. `, overall.friedman_text,
      " Letters and pairs on this page are from Wilcoxon's tests, which may see differences that Nemenyi's does not, and the other way round."));
}

function criticalPicture(ranked, critical, { cliques, friedman }) {
  const width = Math.min(room(), 900);
  const side = width > 600 ? 160 : 96;
  const last = Math.max(Math.ceil(ranked[ranked.length - 1].rank.value), ranked.length);
  const scale = linearScale(1, last, side, width - side);
  const places = new Map(ranked.map(({ method, rank }) => [method, rank.value]));
  const axis = 58;
  const start = axis + 14 + cliques.length * 8 + 12;
  const half = Math.ceil(ranked.length / 2);
  const height = start + half * 18 + 6;
  const parts = [
    s("path", { class: "base", d: `M${side} ${axis}H${width - side}` }),
    scale.ticks.map((tick) => [s("path", { class: "base", d: `M${scale.at(tick)} ${axis - 5}v5` }), s("text", { x: scale.at(tick), y: axis - 10, "text-anchor": "middle" }, String(tick))]),
    s("path", { class: "ruler", d: `M${side} 18V26M${side} 22H${Math.min(width - 4, scale.at(1 + critical))}m0 -4v8` }),
    s("text", { x: side, y: 12 }, `critical difference ${friedman.shown}`),
    cliques.map((members, k) => {
      const own = members.map((method) => places.get(method));
      return s("path", { class: "clique", "data-methods": members.join(", "), d: `M${scale.at(Math.min(...own)) - 4} ${axis + 12 + k * 8}H${scale.at(Math.max(...own)) + 4}` });
    }),
    ranked.map(({ method, rank }, k) => {
      const first = k < half;
      const y = start + (first ? k : ranked.length - 1 - k) * 18;
      const to = first ? side - 8 : width - side + 8;
      const style = lookOf(method);
      const text = `${short(method, width > 600 ? 18 : 10)} ${rank.shown}`;
      return s("g", null, s("path", { d: `M${scale.at(rank.value)} ${axis}V${y}H${to}`, fill: "none", stroke: style.colour, "stroke-width": 1.2 }),
        s("text", { x: first ? to - 4 : to + 4, y: y + 4, "text-anchor": first ? "end" : "start" }, text, s("title", null, method)));
    }),
  ];
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Critical-difference diagram by Nemenyi's test" }, parts);
}
