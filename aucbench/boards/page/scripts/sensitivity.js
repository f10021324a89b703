// How much a tuned field matters: AUC of all trials over its values.

function sensitivitySection(board) {
  const names = [...board.tried].filter(([, trials]) => trials.fields.length && trials.auc.some(known)).map(([name]) => name);
  if (!names.length) {
    return board.tuned ? section("tuning", "Tuning", h("p", null, "The trials of the tuning were not kept.")) : null;
  }
  names.sort(naturally);
  const chosen = () => (names.includes(state.trial) ? state.trial : names[0]);
  return section("tuning", "Tuning",
    names.length > 1
      ? h("label", { class: "field" }, h("span", null, "Method"), h("select", { "data-key": "trial", onchange: (event) => set({ trial: event.target.value }) },
        names.map((name) => h("option", { value: name, selected: name === chosen() }, name))))
      : h("p", null, "Trials of ", methodLink(names[0]), "."),
    live(["trial"], () => sensitivity(chosen(), board.tried.get(chosen())), { class: "multiples" }),
    reading("Each dot is one trial, its height the mean AUC over the inner folds; the line joins the best trials of each value. ",
      "A flat line: the field hardly matters. A best value at the border: the grid may be too small."));
}

function sensitivity(method, trials) {
  const auc = trials.auc;
  const found = auc.filter(known);
  const [low, high] = padded(Math.min(...found), Math.max(...found));
  const columns = Math.max(1, Math.min(trials.fields.length, Math.floor(room() / 330)));
  const width = Math.floor((room() - 16 * (columns - 1)) / columns);
  return trials.fields.map((field, k) => sensitivityPicture(method, field, trials.values.map((each) => each[k]), auc, low, high, Math.min(width, 560)));
}

function sensitivityPicture(method, field, values, auc, low, high, width) {
  const height = 230;
  const [left, right, top, bottom] = [52, width - 14, 28, height - 44];
  const numeric = values.every((value) => value === null || known(value));
  const kinds = [...new Set(values.filter((value) => value !== null))];
  if (numeric) kinds.sort((a, b) => a - b);
  else kinds.sort((a, b) => naturally(String(a), String(b)));
  const log = numeric && kinds[0] > 0 && kinds[kinds.length - 1] / kinds[0] > 15;
  const across = numeric && kinds.length > 1
    ? scaleOf(log ? "log" : "linear", kinds, left + 8, right - 8)
    : namedScale(kinds, left, right);
  const up = linearScale(low, high, bottom, top);
  const style = lookOf(method);
  const best = kinds.map((kind) => [kind, Math.max(...auc.filter((value, k) => values[k] === kind && known(value)))]).filter(([, value]) => known(value));
  const d = best.map(([kind, value], k) => `${k ? "L" : "M"}${across.at(kind).toFixed(1)} ${up.at(value).toFixed(1)}`).join("");
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `AUC of the trials of ${method} over ${field}` },
    bottomAxis(across, { top, bottom, left, right, label: field, format: numeric ? tidy : (value) => short(String(value), 12) }),
    leftAxis(up, { top, left, right, label: "validation AUC", format: decimals(up) }),
    values.map((value, k) => (value === null || !known(auc[k]) ? null
      : s("circle", { class: "dot", cx: across.at(value).toFixed(1), cy: up.at(auc[k]).toFixed(1), r: 2.8, fill: style.colour }, s("title", null, `${field} = ${value}: ${fixed(auc[k], 4)}`)))),
    s("path", { class: "line", d, stroke: style.colour }));
}

function namedScale(names, left, right) {
  const step = (right - left) / names.length;
  return { at: (name) => left + step * (names.indexOf(name) + 0.5), ticks: names };
}

function tidy(value) {
  const size = Math.abs(value);
  return value !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(0).replace("e-", "e−").replace("e+", "e") : String(Number(value.toPrecision(3)));
}
