// AUC against training time, over all data sets.

function paretoSection(overall) {
  const points = [...overall.costs].map(([method, cost]) => ({ method, ...cost }));
  const front = points.filter((each) => each.on_front).map((each) => each.method);
  const marked = points.filter((each) => each.marked).map((each) => each.method);
  return section("pareto", "AUC and training cost",
    figure(live([], () => paretoPicture(points)),
      "Higher is better, left is cheaper: mean test AUC over the data sets, and geometric mean of the training seconds of a run. ",
      absent(overall),
      front.length ? `Joined and in bold is the Pareto front: ${list(front)}. ` : "",
      marked.length ? `Not comparable in time (†), and so not considered for the front: ${list(marked)}.` : ""));
}

// Methods with gaps have no place among means over all data sets.
function absent(overall) {
  const left = overall.methods.filter((name) => !overall.costs.has(name));
  return left.length ? `Not shown, for they have gaps or no times: ${list(left)}. ` : "";
}

function paretoPicture(points) {
  if (!points.length) return h("p", { class: "empty" }, "No method has both an AUC and a time on every data set.");
  const width = Math.min(room(), 900);
  const [left, right, top, bottom, height] = [52, width - (width > 600 ? 120 : 16), 28, 312, 358];
  const seconds = points.map((each) => each.seconds);
  const across = logScale(Math.min(...seconds) / 1.25, Math.max(...seconds) * 1.25, left, right);
  const up = linearScale(...padded(Math.min(...points.map((each) => each.auc)), Math.max(...points.map((each) => each.auc))), bottom - 8, top + 4);
  const best = points.filter((each) => each.on_front).sort((a, b) => a.seconds - b.seconds);
  const joined = best.map((each, k) => (k ? `H${across.at(each.seconds)}V${up.at(each.auc)}` : `M${across.at(each.seconds)} ${up.at(each.auc)}`)).join("");
  const taken = points.map((each) => ({ x: across.at(each.seconds) - 6, y: up.at(each.auc) - 6, w: 12, h: 12 }));
  const named = [...points].sort((a, b) => Number(b.on_front) - Number(a.on_front));
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Mean AUC against mean training time" },
    bottomAxis(across, { top, bottom, left, right, label: "training time of a run", format: duration }),
    leftAxis(up, { top, left, right, label: "mean test AUC", format: decimals(up) }),
    s("path", { class: "front", d: joined }),
    named.map((each) => {
      const [x, y] = [across.at(each.seconds), up.at(each.auc)];
      const front = each.on_front;
      const text = `${short(each.method, 20)}${each.marked ? " †" : ""}`;
      const spot = freeSpot(taken, x, y, text.length * (front ? 7.4 : 6.6), width);
      return s("g", { class: front ? "best" : "rest" }, markerShape(lookOf(each.method), x, y, front ? 5 : 3.6),
        s("title", null, `${each.method}: ${each.shown} in ${duration(each.seconds)}`),
        spot ? s("text", { x: spot.x, y: spot.y + 10 }, text) : null);
    }));
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
