// The views: the overview, the data sets, the methods, and the notes.

const options = (names) => names.map((name) => [name, name]);

function controls(hasGroups, ...children) {
  const methods = references();
  const groups = [...setting().groups].map(([name, members]) => [name, `${name} (${members.length})`]);
  return h("div", { class: "controls", role: "group", "aria-label": "What is compared" },
    report.settings.length > 1 ? select("Setting", "setting", options(report.settings.map(({ name }) => name)), setting().name) : null,
    methods.length ? select("Reference", "ref", options(methods), reference(), (value) => set({ ref: value === setting().reference ? "" : value })) : null,
    report.measures.length > 1 ? select("Measure", "measure", report.measures.map(({ name, title }) => [name, title]), measure().name) : null,
    classes().length > 1 ? select("Models", "model", [["", "all classes"], ...options(classes())], state.model) : null,
    hasGroups && groups.length > 1 ? select("Data sets", "group", groups, group()) : null, children);
}

// Counts of verdicts for each class of model, which are also the legend of the colours.
function tally(rows) {
  if (comparison().rope === null) {
    return h("p", { class: "tally" }, "There are no verdicts because this measure has no rope (the largest difference that does not matter in practice).");
  }
  const parts = classes().map((model) => [model, rows.filter((row) => row.verdict && classOf(row.method) === model)]).filter(([, members]) => members.length);
  const counts = (members) => Object.keys(report.colours).map((verdict) => [verdict, members.filter((row) => row.verdict === verdict).length])
    .filter(([, count]) => count).map(([verdict, count]) => [h("span", { class: "count" }, h("b", null, String(count)), " ", chip(verdict)), " "]);
  const families = Math.max(0, ...rows.map((row) => row.families ?? 0));
  return h("p", { class: "tally" }, `Against ${reference()}, over ${countText(families, "family")} of data: `,
    parts.map(([model, members]) => [classes().length > 1 ? `${model} ` : null, counts(members)]),
    parts.length ? null : "no verdicts; a verdict needs ten families or a single data set. ",
    h("span", { class: "soft" }, `The band is ± ${comparison().rope} ${measure().symbol}.`));
}

function overallView() {
  const rows = verdicts();
  if (!rows.length) return h("p", { class: "empty" }, "There are no results yet.");
  const selection = setting().methods.has(state.of) ? state.of : rows.find((row) => isKnown(row.gain))?.method ?? reference();
  const plotWidth = isNarrow() ? room() : Math.floor((room() - 28) / 2);
  return [
    section("ranking", `Gain over ${reference() || "the reference"}`, controls(true), tally(rows), ranking(rows),
      reading("Points are mean gains over families of data sets, with 95 % intervals that hold for all methods at once. Arrows mark values beyond the picture. ",
        "The number after undecided is how many more families would decide. Click a method for its own view.")),
    h("div", { class: "pair" },
      section("imbalance", "On which data?", select("Method", "of", options(rows.map(({ method }) => method)), selection), gainByShare(selection, plotWidth), slopes(selection),
        reading("Each point is the gain of the method over the reference on one data set, with its interval over the runs. Click a point for the data set. ",
          slopes(selection) ? "The table shows, over all data sets, how the gain changes when imbalance, rows or columns are ten times as large and the others stay the same." : "")),
      section("cost", "At what cost?", meanAgainstCost(rows, plotWidth),
        reading("Training time includes tuning. The line joins the methods that no other method beats in both; outliers are drawn at the edge."))),
    section("heat", "Methods by data sets", toggle("Show", "heat", [["gain", `gain over ${reference()}`], ["mean", measure().symbol]]), heatMap(rows),
      reading(state.heat === "gain" ? "Gains are in thousandths. " : "Darker cells are better on that data set. ",
        "Data sets with the rarest class come first. Click a cell for the curves of the data set.")),
  ];
}

const timeCell = (row) => (isKnown(row.time_ratio) ? h("span", { title: row.time_note }, `${FORMS.number(row.time_ratio)}×${row.time_note ? "*" : ""}`) : "–");
const subline = (...children) => h("span", { class: "below" }, children);

// A method with its class of model, if there are several classes.
const methodCell = (row) => [methodLink(row.method), classes().length > 1 ? h("span", { class: "soft tag" }, classOf(row.method)) : null];

function ranking(rows) {
  const isCompact = isNarrow();
  const settingCell = (row) => h("span", { class: "below soft" }, setting().methods.get(row.method)?.own_setting);
  const meanCell = (row) => h("span", { class: "below soft" }, isKnown(row.mean) ? row.mean.toFixed(3) : "–");
  const changes = { heading: "Worse / same / better", hint: "Shares of families on which the method loses more than the band, stays inside it, or gains more", cell: shares };
  const columns = [
    columnOf("verdicts", "method", { cell: (row) => [methodCell(row), settingCell(row), isCompact ? subline(verdictCell(row)) : null] }),
    ...forestColumns(rows),
    columnOf("verdicts", "time_ratio", isCompact ? { cell: (row) => [timeCell(row), meanCell(row)], heading: `Time, ${measure().symbol}` } : { cell: timeCell }),
    ...(isCompact ? [] : [columnOf("verdicts", "mean"), columnOf("verdicts", "better", changes)]),
    ...(rows.some((row) => row.gaps) ? [columnOf("verdicts", "gaps")] : []),
  ];
  return resultTable({ caption: `Methods against ${reference()}`, columns, rows, isMarked: (row) => row.method === reference() });
}

// Facts as a list of names and values, without empty values.
function facts(pairs) {
  const kind = (value) => (value instanceof Node || value.length > 48 ? "long" : value.length > 16 ? "half" : null);
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value && value !== "–" && value.length !== 0)
    .map(([name, value]) => h("div", { class: kind(value) }, h("dt", null, name), h("dd", null, value))));
}

// The slopes of a method's gain on properties of the data, over all data sets; null if unknown.
function slopes(method) {
  const rows = rowsOf(comparison().slopes, { reference: reference(), method }).filter(({ slope }) => isKnown(slope));
  return rows.length ? resultTable({ caption: `${method} on data with ten times the imbalance, rows or columns`, isFixed: true, rows,
    columns: ["covariate", "slope", "families"].map((name) => columnOf("slopes", name)) }) : null;
}

// A link to another page, or a text if the address is of another kind.
function webLink(name, target) {
  const isPage = URL.canParse(target, location.href) && ["http:", "https:", location.protocol].includes(new URL(target, location.href).protocol);
  return isPage ? h("a", { href: target, rel: "noreferrer" }, name) : `${name}: ${target}`;
}

const linksOf = (links) => (links ?? []).map(([name, target]) => [webLink(name, target), " "]);

function missingText(kind) {
  return state.id ? h("p", { class: "empty" }, `There is no ${kind} ${state.id} here.`) : null;
}

function dataView() {
  const { data_sets: data } = setting();
  if (state.id && data.has(state.id)) return dataSet(data.get(state.id));
  const rows = [...data.values()].filter((row) => inGroup(row.data_set));
  const names = ["family", "rows", "features", "positive_share", "duplicates", "best", "licence"].filter((name) => rows.some((row) => !isMissing(row[name])));
  const head = columnOf("data_sets", "data_set", { cell: (row) => dataLink(row.data_set) });
  return section("data", countText(rows.length, "data set"), missingText("data set"), controls(true),
    resultTable({ caption: "Data sets", columns: [head, ...names.map((name) => columnOf("data_sets", name))], rows }));
}

const DEFAULT_COLUMNS = ["own_setting", "mean", "train_seconds", "target_seconds", "gaps"]; // columns of results beside the forest plot
const WIDE_COLUMNS = ["parameters", "command", "chosen", "edges"];

function dataSet(record) {
  const name = record.data_set;
  const gainRows = new Map(gains({ data_set: name }).map((row) => [row.method, row]));
  const emptyGain = { gain: null, low: null, high: null, verdict: "" };
  const rows = setting().results.filter((row) => row.data_set === name && isShown(row.method))
    .map((row) => ({ ...row, ...emptyGain, ...gainRows.get(row.method), runs: row.runs, mean: meanOf(row), std: measureAt() ? row[`${measure().name}_std`] : row.std }))
    .sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  const showsAll = state.columns === "all";
  const fields = [...schema.results.keys()].filter((field) => !["data_set", "method", ...Object.keys(emptyGain)].includes(field)
    && (showsAll || DEFAULT_COLUMNS.includes(field)) && rows.some((row) => !isMissing(row[field])));
  const columns = [
    columnOf("results", "method", { cell: (row) => [methodCell(row), isNarrow() ? subline(verdictCell(row)) : null] }),
    ...forestColumns(rows, "results", 240),
    ...fields.map((field) => columnOf("results", field, WIDE_COLUMNS.includes(field) ? { kind: "wide" } : {})),
  ];
  const details = [...schema.data_sets.values()].filter((column) => !["data_set", "licence", "setting_text"].includes(column.name));
  const onchange = () => set({ columns: showsAll ? "" : "all" });
  return [
    section("facts", name, controls(false, select("Data set", "id", options([...setting().data_sets.keys()]), name)),
      h("p", null, record.summary), facts(details.map((column) => [expand(column.heading), cellText(column, record)]))),
    curves(name, rows),
    section("results", `Results on ${name}`,
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: showsAll, "data-key": "columns", onchange }), " all columns"),
      resultTable({ caption: `Results on ${name}`, columns, rows, isMarked: (row) => row.method === reference() }),
      reading("Gains are means over the common runs, with 95 % intervals over the runs.")),
    section("source", "About the data", facts([
      ["Citation", record.citation], ["Licence", record.licence], ["Positive labels", record.positive], ["Negative labels", record.negative],
      ["Links", linksOf(record.links)], ["Setting", record.setting_text]])),
  ];
}

const COSTS = { seconds: ["training time", FORMS.duration], passes: ["passes over the training rows", FORMS.number], samples: ["rows seen", FORMS.compact] };

// The curves of a data set, of the report's own measure: the reference and the best of the ranking have colours, or what was chosen.
function curves(name, rows) {
  const lines = measureAt() ? [] : rowsOf(setting().curves, { data_set: name }).filter(({ method }) => isShown(method));
  if (!lines.length) return null;
  const cost = Object.hasOwn(COSTS, state.x) ? state.x : "seconds";
  const [label, format] = COSTS[cost];
  const x = { label: `${label} (log)`, short: label, format };
  const bound = (line, sign) => line.mean.map((mean, k) => mean + sign * line.std[k]);
  const series = lines.map((line) => ({ method: line.method, xs: line[cost], ys: line.mean, low: bound(line, -1), high: bound(line, 1) }));
  const names = [...setting().methods.keys()].sort((a, b) => (ranks.get(a) ?? 1e9) - (ranks.get(b) ?? 1e9)).slice(0, 8);
  const highlights = new Set([...names.filter((method) => !state.off.includes(method)), ...state.lit]);
  const choose = (method) => set(highlights.has(method)
    ? { lit: state.lit.filter((item) => item !== method), off: [...new Set([...state.off, method])] }
    : { lit: [...state.lit, method], off: state.off.filter((item) => item !== method) });
  const means = series.flatMap(({ ys }) => ys.filter(isKnown));
  const high = Math.max(...means);
  const [floor] = bulk(series.map(({ ys }) => ys[ys.length - 1]));
  const low = state.y === "whole" ? Math.min(...means) : Math.max(0, floor - 0.6 * Math.max(high - floor, 0.002));
  const y = { label: `test ${measure().symbol}`, low, high: high + (high - low) * 0.03, format: FORMS.fixed };
  const distances = lines.map((line) => ({ method: line.method, xs: line[cost], ys: line.suboptimality ?? [] })).filter(({ ys }) => ys.some((value) => value > 0));
  const values = distances.flatMap(({ ys }) => ys.filter((value) => value > 0));
  const distanceAxis = { kind: "log", label: "relative suboptimality", low: Math.min(...values), high: Math.max(...values), format: FORMS.tiny, tick: FORMS.tiny };
  return section("curves", "Curves",
    h("div", { class: "controls" }, toggle("Against", "x", [["seconds", "seconds"], ["passes", "passes"], ["samples", "rows seen"]]),
      toggle("Axis", "y", [["close", "close"], ["whole", "whole"]])),
    lineplot({ series, highlights, width: room(), height: 380, label: `Mean test ${measure().symbol} against ${label}`, x, y }),
    distances.length ? lineplot({ series: distances, highlights, width: room(), height: 300, label: `Relative suboptimality against ${label}`, x, y: distanceAxis }) : null,
    h("div", { class: "keys", role: "group", "aria-label": "Methods in colour" }, rows.map(({ method }) => h("button", {
      type: "button", class: "key", "aria-pressed": String(highlights.has(method)), "data-key": `key-${method}`, "data-method": method, onclick: () => choose(method),
    }, swatch(method), method))),
    reading("Lines are means over the runs whose curves are kept; bands are one standard deviation. The buttons, in the order of the results, colour the methods."));
}

function methodsView() {
  const { methods } = setting();
  if (state.id && methods.has(state.id)) return oneMethod(state.id, methods.get(state.id));
  const rows = verdicts().map((row) => ({ ...row, summary: methods.get(row.method)?.summary ?? "" }));
  return section("methods", countText(rows.length, "method"), missingText("method"), controls(true), resultTable({ caption: "Methods", rows, columns: [
    columnOf("verdicts", "method", { cell: (row) => methodLink(row.method) }),
    columnOf("verdicts", "class_of_model"), columnOf("verdicts", "verdict", { cell: verdictCell }),
    { name: "summary", heading: "Summary", hint: "Summary in the plugin", isText: true, kind: "wide", cell: (row) => row.summary, order: (row) => row.summary }] }));
}

// The verdict on a method as sentences.
function verdictText(method, row) {
  const parts = [method === reference() ? "This method is the reference." : "This method has no gain."];
  const gain = cellText(schema.verdicts.get("gain"), row);
  if (isKnown(row.gain)) parts[0] = `Gain over ${reference()}: ${gain} on ${countText(row.families, "family")} (${countText(row.data_sets, "data set")}).`;
  if (isKnown(row.time_ratio) && method !== reference()) parts.push(`It takes ${FORMS.number(row.time_ratio)} times as long to train as ${reference()}.`);
  if (row.without) parts.push(`The verdict would be ${row.without}.`);
  if (row.verdict === "undecided" && isKnown(row.more_families)) parts.push(`${countText(row.more_families, "more family")} would decide the verdict.`);
  return h("p", { class: "said" }, swatch(method), " ", row.verdict ? [chip(row.verdict), ". "] : null, parts.join(" "));
}

function oneMethod(method, record) {
  const groups = verdicts({ method });
  const results = new Map(setting().results.filter((row) => row.method === method).map((row) => [row.data_set, row]));
  const rows = gains({ method }).filter((row) => inGroup(row.data_set)).sort((a, b) => b.gain - a.gain).map((row) => {
    const [dataRecord, result] = [setting().data_sets.get(row.data_set), results.get(row.data_set)];
    return { ...result, ...row, positive_share: dataRecord.positive_share, rows: dataRecord.rows, mean: meanOf(result), std: measureAt() ? null : result.std };
  });
  const gaps = [...results.values()].filter((row) => row.gaps);
  const label = (cell) => ({ cell: (row) => [cell(row), isNarrow() ? subline(verdictCell({ ...row, method: null })) : null] });
  return [
    section("method", method, controls(true, select("Method", "id", options([...setting().methods.keys()].sort(compareTexts)), method)),
      verdictText(method, groups.find((row) => row.group === group()) ?? {}), h("p", null, record.summary),
      facts([["Plugin", record.algorithm], ["Model", record.class_of_model], ["Own setting", record.own_setting], ["Distribution", record.distribution],
        ["Source", /^https?:/.test(record.source) ? webLink(record.source, record.source) : record.source], ["Claims", record.claims], ["Paper", record.citation],
        ["How it differs from its paper", record.deviations.length ? h("ul", null, record.deviations.map((deviation) => h("li", null, deviation))) : ""],
        ["Links", linksOf(record.links)], ["Exempt from checks", record.exempt]])),
    rows.length ? section("groups", "On which data?",
      resultTable({ caption: `${method} by groups of data sets`, isFixed: true, rows: groups, columns: [
        columnOf("verdicts", "group", label((row) => row.group)), ...forestColumns(groups, "verdicts", 420),
        columnOf("verdicts", "families"), columnOf("verdicts", "time_ratio", { cell: timeCell })] }),
      gainByShare(method, Math.min(room(), 760)), slopes(method),
      reading("A verdict needs ten families. Each point is a data set; click it for its curves.")) : null,
    rows.length ? section("wins", "Where it wins, and where it loses",
      resultTable({ caption: `${method} by data sets`, rows, columns: [
        columnOf("results", "data_set", label((row) => dataLink(row.data_set))), ...forestColumns(rows, "results", 270),
        columnOf("data_sets", "positive_share"), columnOf("data_sets", "rows"), columnOf("results", "mean"), columnOf("results", "train_seconds")] })) : null,
    gaps.length ? section("gaps", "Gaps", h("ul", { class: "notes" },
      gaps.map((row) => h("li", null, dataLink(row.data_set), `: ${row.gaps}. ${row.advice ?? ""}`)))) : null,
  ];
}

function notesView() {
  return section("notes", "How the numbers are made", h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))));
}
