// What accuracy costs, and how often a method is near the best.

function paretoSection(overall) {
  return section("pareto", "Accuracy and cost",
    figure(live([], () => paretoPicture(overall)),
      "Further up is more accurate, further left is cheaper: mean test AUC over the data sets, and geometric mean of the training seconds of a run. ",
      absent(overall),
      overall.pareto.length ? `Joined and in bold are those that no other beats in both at once: ${list(overall.pareto)}. ` : "",
      groupShown().boards.some((board) => board.rows.some((row) => row.timing_mark)) ? "Times marked † are left out where a method has others." : ""));
}

// Methods with gaps have no place among means over all data sets.
function absent(overall) {
  const shown = costs(overall).map((each) => each.method);
  const left = overall.methods.filter((name) => !shown.includes(name));
  return left.length ? `Not shown, for they have gaps or no times: ${list(left)}. ` : "";
}

function costs(overall) {
  const { boards } = groupShown();
  return overall.methods.map((method) => {
    const rows = boards.map((board) => rowOf(board, method)).filter((row) => row && known(row.auc.value));
    const timely = rows.filter((row) => !row.timing_mark);
    const logs = (timely.length ? timely : rows).map((row) => Math.log(row.train_seconds ?? NaN));
    const whole = rows.length === boards.length && rows.every((row) => !troubles(row).length);
    return { method, whole, auc: average(rows.map((row) => row.auc.value)), seconds: Math.exp(average(logs) ?? NaN) };
  }).filter((each) => each.whole && known(each.auc) && known(each.seconds) && each.seconds > 0);
}

function paretoPicture(overall) {
  const points = costs(overall);
  if (!points.length) return h("p", { class: "empty" }, "No method has both an AUC and a time on every data set.");
  const width = Math.min(room(), 900);
  const [left, right, top, bottom, height] = [52, width - (width > 600 ? 120 : 16), 28, 312, 358];
  const seconds = points.map((each) => each.seconds);
  const across = logScale(Math.min(...seconds) / 1.25, Math.max(...seconds) * 1.25, left, right);
  const up = linearScale(...padded(Math.min(...points.map((each) => each.auc)), Math.max(...points.map((each) => each.auc))), bottom - 8, top + 4);
  const best = points.filter((each) => overall.pareto.includes(each.method)).sort((a, b) => a.seconds - b.seconds);
  const joined = best.map((each, k) => (k ? `H${across.at(each.seconds)}V${up.at(each.auc)}` : `M${across.at(each.seconds)} ${up.at(each.auc)}`)).join("");
  const taken = points.map((each) => ({ x: across.at(each.seconds) - 6, y: up.at(each.auc) - 6, w: 12, h: 12 }));
  const named = [...points].sort((a, b) => Number(overall.pareto.includes(b.method)) - Number(overall.pareto.includes(a.method)));
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Mean AUC against mean training time" },
    bottomAxis(across, { top, bottom, left, right, label: "training time of a run", format: duration }),
    leftAxis(up, { top, left, right, label: "mean test AUC", format: decimals(up) }),
    s("path", { class: "front", d: joined }),
    named.map((each) => {
      const [x, y] = [across.at(each.seconds), up.at(each.auc)];
      const front = overall.pareto.includes(each.method);
      const text = short(each.method, 20);
      const spot = freeSpot(taken, x, y, text.length * (front ? 7.4 : 6.6), width);
      return s("g", { class: front ? "best" : "rest" }, markerShape(lookOf(each.method), x, y, front ? 5 : 3.6),
        s("title", null, `${each.method}: ${fixed(each.auc, 4)} in ${duration(each.seconds)}`),
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
