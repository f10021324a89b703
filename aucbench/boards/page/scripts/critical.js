// Demšar's critical-difference diagram.

function criticalSection(overall) {
  const critical = overall.friedman?.critical_difference;
  const ranked = standing(overall).order;
  if (!known(critical) || ranked.length < 2) {
    return section("critical", "Critical differences", h("p", null, overall.friedman_text || "They were not computed."));
  }
  return section("critical", "Critical differences",
    figure(live([], () => criticalPicture(ranked, critical)),
      "Methods hang at their average rank, the best on the left. A thick bar joins methods closer than the critical difference of ",
      `${fixed(critical, 2)}, which the data cannot tell apart. `, overall.friedman_text));
}

function criticalPicture(ranked, critical) {
  const width = Math.min(room(), 900);
  const side = width > 600 ? 160 : 96;
  const last = Math.max(Math.ceil(ranked[ranked.length - 1].rank.value), ranked.length);
  const scale = linearScale(1, last, side, width - side);
  const cliques = cliquesOf(ranked, critical);
  const axis = 58;
  const start = axis + 14 + cliques.length * 8 + 12;
  const half = Math.ceil(ranked.length / 2);
  const height = start + half * 18 + 6;
  const parts = [
    s("path", { class: "base", d: `M${side} ${axis}H${width - side}` }),
    scale.ticks.map((tick) => [s("path", { class: "base", d: `M${scale.at(tick)} ${axis - 5}v5` }), s("text", { x: scale.at(tick), y: axis - 10, "text-anchor": "middle" }, String(tick))]),
    s("path", { class: "ruler", d: `M${side} 18V26M${side} 22H${Math.min(width - 4, scale.at(1 + critical))}m0 -4v8` }),
    s("text", { x: side, y: 12 }, `critical difference ${fixed(critical, 2)}`),
    cliques.map(([a, b], k) => s("path", { class: "clique", d: `M${scale.at(ranked[a].rank.value) - 4} ${axis + 12 + k * 8}H${scale.at(ranked[b].rank.value) + 4}` })),
    ranked.map(({ method, rank }, k) => {
      const first = k < half;
      const y = start + (first ? k : ranked.length - 1 - k) * 18;
      const to = first ? side - 8 : width - side + 8;
      const style = lookOf(method);
      const text = `${short(method, width > 600 ? 18 : 10)} ${fixed(rank.value, 2)}`;
      return s("g", null, s("path", { d: `M${scale.at(rank.value)} ${axis}V${y}H${to}`, fill: "none", stroke: style.colour, "stroke-width": 1.2 }),
        s("text", { x: first ? to - 4 : to + 4, y: y + 4, "text-anchor": first ? "end" : "start" }, text, s("title", null, method)));
    }),
  ];
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Critical-difference diagram" }, parts);
}

// The longest runs of neighbours that the critical difference spans.
function cliquesOf(ranked, critical) {
  const found = [];
  let reached = 0;
  ranked.forEach((each, a) => {
    let b = a;
    while (b + 1 < ranked.length && ranked[b + 1].rank.value - each.rank.value <= critical) b += 1;
    if (b > a && b > reached) found.push([a, b]);
    reached = Math.max(reached, b);
  });
  return found;
}
