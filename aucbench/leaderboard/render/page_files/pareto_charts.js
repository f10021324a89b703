// The measure against training time: over all data sets, and on each of them.

function paretoSection(group) {
  const points = group.costs.map(([method, cost, shown]) => ({ method, shown, ...cost }));
  const front = points.filter((each) => each.on_front).map((each) => each.method);
  const marked = points.filter((each) => each.marked).map((each) => each.method);
  const absent = namesOf(group).filter((method) => points.every((each) => each.method !== method));
  const { symbol, title } = report.measure;
  return section("pareto", `${symbol} and training cost`,
    figure(live([...HIGHLIGHT, "y"], () => paretoPicture(points, highlightsOf(group), { width: Math.min(room(), 900), height: 358, where: "over all data sets" })),
      `Higher is better, left is cheaper: mean test ${title} over the data sets, and geometric mean of the training seconds of a run. `,
      absent.length ? `Not shown because of gaps or missing times: ${list(absent)}. ` : "",
      front.length ? `Joined is the Pareto front: ${list(front)}. ` : "",
      marked.length ? `Not comparable in time (†), and so not considered for the front: ${list(marked)}.` : ""),
    group.boards.length > 1 ? [
      live([...HIGHLIGHT, "y"], () => multiples(group.boards, 270, (board, width) => [
        h("figcaption", null, boardLink(board)),
        paretoPicture(pointsOf(board), highlightsOf(group), { width, height: 190, where: `on ${board.dataset}`, small: true }),
      ])),
      reading(`The same on each data set: mean test ${title} and mean training seconds of a run. In a zoom (y axis, at the top of the curves), methods below the frame are drawn at its lower edge.`),
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
  const up = linearScale(...zoomed(points.map((each) => each.auc), points.map((each) => [each.auc, each.linear !== false])), bottom - 8, top + 4);
  const placed = points.map((each) => ({ ...each, x: across.at(each.seconds), y: Math.min(up.at(each.auc), bottom - 3) }));
  const front = placed.filter((each) => each.on_front).sort((a, b) => a.x - b.x);
  const taken = placed.filter(({ method }) => lit.has(method)).map(({ x, y }) => ({ x: x - 6, y: y - 6, w: 12, h: 12 }));
  const svg = picture(width, height, `Mean ${report.measure.title} against training time ${where}. Arrow keys read out values.`,
    bottomAxis(across, { top, bottom, left, right, label: small ? null : "training time of a run", format: duration }),
    leftAxis(up, { top, left, right, label: small ? null : `mean test ${report.measure.symbol}`, format: decimals(up) }),
    s("path", { class: "front", d: front.map(({ x, y }, k) => (k ? `H${x}V${y}` : `M${x} ${y}`)).join("") }),
    placed.map((each) => paretoPoint(each, lit.has(each.method), small ? null : taken, width)));
  svg.setAttribute("tabindex", "0");
  return followed(svg, placed);
}

// A name stands beside a highlighted point where there is place, and beside any point while it is emphasised.
function paretoPoint({ method, x, y, on_front, marked }, coloured, taken, width) {
  const text = `${short(method, 20)}${marked ? " †" : ""}`;
  const w = text.length * 7.4;
  const spot = coloured && taken ? freeSpot(taken, x, y, w, width) : null;
  const aside = spot ?? { x: x + 9 + w > width ? Math.max(54, x - w - 6) : x + 9, y: y - 7 };
  return s("g", { class: `point${coloured ? "" : " rest"}${on_front ? " best" : ""}`, "data-method": method },
    markerShape(lookOf(method), Number(x.toFixed(1)), Number(y.toFixed(1)), on_front ? 4.6 : 3.4),
    s("text", { class: spot ? null : "aside", x: aside.x.toFixed(1), y: (aside.y + 10).toFixed(1) }, text));
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

// Where a name fits beside its point without covering another; null: nowhere.
function freeSpot(taken, x, y, w, width) {
  const tries = [[9, -7], [-w - 9, -7], [-w / 2, -22], [-w / 2, 8], [9, -18], [9, 5], [-w - 9, -18], [-w - 9, 5]];
  for (const [dx, dy] of tries) {
    const spot = { x: x + dx, y: y + dy, w, h: 13 };
    const clear = taken.every((each) => spot.x > each.x + each.w || each.x > spot.x + spot.w || spot.y > each.y + each.h || each.y > spot.y + spot.h);
    if (clear && spot.x > 54 && spot.x + w < width) {
      taken.push(spot);
      return spot;
    }
  }
  return null;
}
