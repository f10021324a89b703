const BEYOND = "In a zoom (y axis, at the top of the curves), methods far above or below the others are drawn at the edge";

// The measure against training time: over all data sets, and on each of them.

function paretoSection(group) {
  const points = group.costs.map(([method, cost, shown]) => ({ method, shown, ...cost }));
  const front = points.filter((each) => each.on_front).sort((a, b) => a.seconds - b.seconds).map((each) => each.method);
  const marked = points.filter((each) => each.marked).map((each) => each.method);
  const absent = namesOf(group).filter((method) => points.every((each) => each.method !== method));
  const { symbol, title } = report.measure;
  return section("pareto", `${symbol} and training cost`,
    figure(live([...HIGHLIGHT, "y"], () => paretoPicture(points, highlightsOf(group), { width: Math.min(room(), 900), height: 420, where: "over all data sets" })),
      `Higher is better, left is cheaper: mean test ${title} over the data sets, and geometric mean of the training seconds of a run. `,
      absent.length ? `Not shown because of gaps or missing times: ${list(absent)}. ` : "",
      front.length ? `Joined is the Pareto front, from the cheapest: ${list(front)}. ` : "",
      `${BEYOND} with their mean. `,
      marked.length ? `Not comparable in time (†), and so not considered for the front: ${list(marked)}.` : ""),
    group.boards.length > 1 ? [
      live([...HIGHLIGHT, "y"], () => multiples(group.boards, 270, (board, width) => [
        h("figcaption", null, boardLink(board)),
        paretoPicture(pointsOf(board), highlightsOf(group), { width, height: 190, where: `on ${board.dataset}`, small: true }),
      ])),
      reading(`The same on each data set: mean test ${title} and mean training seconds of a run. ${BEYOND}.`),
    ] : null);
}

function pointsOf(board) {
  return board.rows.filter((row) => !row.trouble && known(row.auc.value) && row.train_seconds > 0).map((row) => ({
    method: row.method, shown: row.mean, auc: row.auc.value, seconds: row.train_seconds, marked: row.timing_mark, on_front: row.on_front, linear: row.linear,
  }));
}

function paretoPicture(all, lit, { width, height, where, small }) {
  const points = visible(all, lit);
  if (!points.length) return h("p", { class: "empty" }, all.length ? "All methods are hidden." : "No method has both a result and a time.");
  const wide = width > 600;
  const [left, right, top, bottom] = [52, width - (wide ? 120 : 16), small ? 10 : 28, height - (small ? 24 : 46)];
  const seconds = points.map((each) => each.seconds);
  const across = logScale(Math.min(...seconds) / 1.25, Math.max(...seconds) * 1.25, left, right);
  const [low, high] = padded(...(state.y === "close" ? bulk : ends)(points.map((each) => each.auc)));
  const up = linearScale(low, high, bottom - 8, top + 8);
  const placed = points.map((each) => {
    const beyond = each.auc > high ? "↑" : each.auc < low ? "↓" : "";
    return { ...each, beyond, x: across.at(each.seconds), y: beyond ? (beyond === "↑" ? top : bottom - 8) : up.at(each.auc) };
  });
  const front = placed.filter((each) => each.on_front).sort((a, b) => a.x - b.x);
  const spots = small ? new Map() : nameSpots(placed, front, lit, { left, right: width, top: 16, bottom });
  const svg = picture(width, height, `Mean ${report.measure.title} against training time ${where}. Arrow keys read out values.`,
    bottomAxis(across, { top, bottom, left, right, label: small ? null : "training time of a run", format: duration }),
    leftAxis(up, { top, left, right, label: small ? null : `mean test ${report.measure.symbol}`, format: decimals(up) }),
    s("path", { class: "front", d: front.map(({ x, y }, k) => (k ? `H${x}V${y}` : `M${x} ${y}`)).join("") }),
    placed.map((each) => paretoPoint(each, lit.has(each.method), spots.get(each.method), width)));
  svg.setAttribute("tabindex", "0");
  return followed(svg, placed);
}

function ends(values) {
  return [Math.min(...values), Math.max(...values)];
}

// The ends without what is far from the middle half, by more than one and a half of its width, as box plots have it.
function bulk(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [0.25, 0.75].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
  const reach = 1.5 * Math.max(high - low, 0.002);
  return ends(sorted.length < 8 ? sorted : sorted.filter((value) => value >= low - reach && value <= high + reach));
}

// A name stands beside a point that has a spot, and beside any point while it is emphasised.
function paretoPoint(point, coloured, spot, width) {
  const { method, x, y, on_front } = point;
  const text = nameOf(point);
  const { tip, ...aside } = spot ?? { x: x + 9 + widthOf(text) > width ? Math.max(54, x - widthOf(text) - 6) : x + 9, y: y - 7 };
  return s("g", { class: `point${coloured ? "" : " rest"}${on_front ? " best" : ""}`, "data-method": method },
    tip ? s("path", { class: "hair", d: `M${x.toFixed(1)} ${y.toFixed(1)}L${tip.map((each) => each.toFixed(1)).join(" ")}` }) : null,
    markerShape(lookOf(method), Number(x.toFixed(1)), Number(y.toFixed(1)), on_front ? 4.6 : 3.4),
    s("text", { class: spot ? null : "aside", x: aside.x.toFixed(1), y: (aside.y + 10).toFixed(1) }, text));
}

function nameOf({ method, marked, beyond, shown }) {
  return `${short(method, 20)}${marked ? " †" : ""}${beyond ? ` ${shown} ${beyond}` : ""}`;
}

function widthOf(text) {
  return text.length * 7.1;
}

// Where the names of the front, of what is beyond the frame and of the highlighted methods stand, as far as there is place.
function nameSpots(placed, front, lit, frame) {
  const marks = placed.map(({ method, x, y }) => ({ method, x: x - 6, y: y - 6, w: 12, h: 12 }));
  const lines = front.slice(1).flatMap((to, k) => {
    const [low, high] = ends([front[k].y, to.y]);
    return [{ x: front[k].x, y: front[k].y - 1, w: to.x - front[k].x, h: 2 }, { x: to.x - 1, y: low, w: 2, h: high - low }];
  });
  const others = placed.filter(({ on_front }) => !on_front).sort((a, b) => b.x - a.x);
  const named = [...front, ...others.filter(({ beyond }) => beyond), ...others.filter(({ method, beyond }) => lit.has(method) && !beyond)];
  const found = new Map([["", { x: 0, y: 8, w: 110, h: 16 }]]); // where the name of the axis stands
  for (const point of named) {
    const spot = freeSpot(point, widthOf(nameOf(point)), { frame, names: [...found.values()], marks: marks.filter(({ method }) => method !== point.method), lines });
    if (spot) found.set(point.method, spot);
  }
  return found;
}

// The point nearest to the pointer is emphasised in all pictures, and its numbers are read out here.
function followed(svg, placed) {
  const note = h("div", { class: "readout", role: "status", hidden: true });
  const box = h("div", { class: "plotbox" }, svg, note);
  const byCost = [...placed].sort((a, b) => a.x - b.x);
  const show = (point) => {
    note.hidden = !point;
    emphasise(point?.method ?? null);
    if (!point) return;
    note.replaceChildren(h("p", null, `${point.method}: ${point.shown} in ${duration(point.seconds)}`));
    note.style.left = `${Math.max(0, Math.min(point.x + 14, box.clientWidth - note.offsetWidth))}px`;
    note.style.top = `${point.y + 14}px`;
  };
  const nearestTo = (event) => {
    const frame = svg.getBoundingClientRect();
    const away = ({ x, y }) => Math.hypot(x - event.clientX + frame.left, y - event.clientY + frame.top);
    const best = placed.reduce((a, b) => (away(b) <= away(a) ? b : a));
    show(away(best) < 18 ? best : null);
  };
  svg.addEventListener("pointermove", nearestTo);
  svg.addEventListener("pointerdown", nearestTo);
  svg.addEventListener("pointerleave", () => show(null));
  svg.addEventListener("blur", () => show(null));
  svg.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (event.key === "Escape") show(null);
    if (!turn) return;
    show(byCost.find(({ method }) => method === beside(byCost.map((each) => each.method), turn)));
    event.preventDefault();
  });
  return box;
}

// The nearest place around a point where a name covers no other, and no mark or line where that can be had; null: nowhere.
function freeSpot({ x, y }, w, { frame, names, marks, lines }) {
  const covers = (spot, each) => spot.x < each.x + each.w && each.x < spot.x + spot.w && spot.y < each.y + each.h && each.y < spot.y + spot.h;
  const tries = [9, 15, 24, 36, 52].flatMap((far) => [0, 6, 9, 3, 11, 1, 7, 5, 10, 8, 2, 4].map((hour) => {
    const [across, down] = [Math.cos((hour * Math.PI) / 6), Math.sin((hour * Math.PI) / 6)];
    const side = across > 0.4 ? 0 : across < -0.4 ? 1 : 0.5; // of the name, that is towards the point
    const tip = [x + far * across, y + far * down];
    const hair = [0.25, 0.4, 0.55, 0.7, 0.85].map((part) => ({ x: x + part * far * across, y: y + part * far * down, w: 1, h: 1 }));
    return { x: tip[0] - side * w, y: tip[1] - 6.5 + (side === 0.5 ? 6 * down : 0), w, h: 13, far, hair, tip: far > 15 ? tip : null };
  })).filter((spot) => spot.x > frame.left && spot.x + w < frame.right && spot.y > frame.top && spot.y + spot.h < frame.bottom
    && !names.some((each) => [spot, ...spot.hair].some((part) => covers(part, each))));
  const cost = (spot) => 100 * marks.filter((each) => covers(spot, each)).length + 30 * lines.filter((each) => covers(spot, each)).length + spot.far;
  return tries.length ? tries.reduce((best, each) => (cost(each) < cost(best) ? each : best)) : null;
}
