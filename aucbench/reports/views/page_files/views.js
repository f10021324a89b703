// The views: the overview, the data sets, the methods, and the notes.

const named = (names) => names.map((name) => [name, name]);

function controls(withGroups, ...more) {
  const methods = references();
  const groups = [...setting().groups].map(([name, own]) => [name, `${name} (${own.length})`]);
  return h("div", { class: "controls", role: "group", "aria-label": "What is compared" },
    report.settings.length > 1 ? select("Setting", "setting", named(report.settings.map(({ name }) => name)), setting().name) : null,
    methods.length ? select("Reference", "ref", named(methods), reference(), (value) => set({ ref: value === setting().reference ? "" : value })) : null,
    report.measures.length > 1 ? select("Measure", "measure", report.measures.map(({ name, title }) => [name, title]), measure().name) : null,
    classes().length > 1 ? select("Models", "model", [["", "all classes"], ...named(classes())], state.model) : null,
    withGroups && groups.length > 1 ? select("Data sets", "group", groups, group()) : null, more);
}

// Counts of verdicts for each class of model, which are also the legend of the colours.
function tally(rows) {
  if (comparison().rope === null) {
    return h("p", { class: "tally" }, "There are no verdicts: no difference that does not matter in practice was named for this measure.");
  }
  const judged = classes().map((model) => [model, rows.filter((row) => row.verdict && classOf(row.method) === model)]).filter(([, own]) => own.length);
  const counted = (own) => Object.keys(report.colours).map((verdict) => [verdict, own.filter((row) => row.verdict === verdict).length])
    .filter(([, count]) => count).map(([verdict, count]) => [h("span", { class: "count" }, h("b", null, String(count)), " ", chip(verdict)), " "]);
  const most = Math.max(0, ...rows.map((row) => row.families ?? 0));
  return h("p", { class: "tally" }, `Against ${reference()}, over ${many(most, "family")} of data: `,
    judged.map(([model, own]) => [classes().length > 1 ? `${model} ` : null, counted(own)]),
    judged.length ? null : "no verdicts, which take ten families or a single data set. ",
    h("span", { class: "soft" }, `The band is ± ${comparison().rope} ${measure().symbol}.`));
}

function overallView() {
  const rows = verdicts();
  if (!rows.length) return h("p", { class: "empty" }, "There are no results yet.");
  const chosen = setting().methods.has(state.of) ? state.of : rows.find((row) => known(row.gain))?.method ?? reference();
  const half = isNarrow() ? room() : Math.floor((room() - 28) / 2);
  return [
    section("ranking", `Gain over ${reference() || "the reference"}`, controls(true), tally(rows), ranking(rows),
      reading("Points are mean gains over families of data sets, with 95 % intervals that hold for all methods at once. Arrows go on beyond the picture. ",
        "After undecided: how many more families would decide. Click a method for its own view.")),
    h("div", { class: "pair" },
      section("imbalance", "On which data?", select("Method", "of", named(rows.map(({ method }) => method)), chosen), gainByShare(chosen, half), slopes(chosen),
        reading("A point per data set, with its interval over the runs: gain of the method over the reference. Click a point for the data set. ",
          slopes(chosen) ? "The table, of all data sets: how the gain changes when imbalance, rows or columns are ten times as large and the others stay." : "")),
      section("cost", "At what cost?", meanAgainstCost(rows, half),
        reading("Training time includes the tuning. The line joins the methods that no other beats in both; far ones are drawn at the edge."))),
    section("heat", "Methods by data sets", toggle("Show", "heat", [["gain", `gain over ${reference()}`], ["mean", measure().symbol]]), heatMap(rows),
      reading(state.heat === "gain" ? "Gains in thousandths; " : "The darker, the better on that data set; ",
        "the rarest class comes first. Click a cell for the curves of the data set.")),
  ];
}

const times = (row) => (known(row.time_ratio) ? h("span", { title: row.time_note }, `${FORMS.number(row.time_ratio)}×${row.time_note ? "*" : ""}`) : "–");
const smaller = (...words_) => h("span", { class: "below" }, words_);

// A method with its class of model, if there are several classes.
const methodCell = (row) => [methodLink(row.method), classes().length > 1 ? h("span", { class: "soft tag" }, classOf(row.method)) : null];

function ranking(rows) {
  const narrow = isNarrow();
  const own = (row) => h("span", { class: "below soft" }, setting().methods.get(row.method)?.own_setting);
  const mean = (row) => h("span", { class: "below soft" }, known(row.mean) ? row.mean.toFixed(3) : "–");
  const parts = { heading: "Worse / same / better", hint: "Shares of the families on which it loses more than the band, stays inside it, gains more", cell: shares };
  const all = [
    columnOf("verdicts", "method", { cell: (row) => [methodCell(row), own(row), narrow ? smaller(verdictCell(row)) : null] }),
    ...forestColumns(rows),
    columnOf("verdicts", "time_ratio", narrow ? { cell: (row) => [times(row), mean(row)], heading: `Time, ${measure().symbol}` } : { cell: times }),
    ...(narrow ? [] : [columnOf("verdicts", "mean"), columnOf("verdicts", "better", parts)]),
    ...(rows.some((row) => row.gaps) ? [columnOf("verdicts", "gaps")] : []),
  ];
  return resultTable({ caption: `Methods against ${reference()}`, all, rows, marked: (row) => row.method === reference() });
}

// Facts as a list of names and values, without empty values.
function facts(pairs) {
  const kind = (value) => (value instanceof Node || value.length > 48 ? "long" : value.length > 16 ? "half" : null);
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value && value !== "–" && value.length !== 0)
    .map(([name, value]) => h("div", { class: kind(value) }, h("dt", null, name), h("dd", null, value))));
}

// The slopes of a method's gain on properties of the data, over all data sets; null if unknown.
function slopes(method) {
  const rows = where(comparison().slopes, { reference: reference(), method }).filter(({ slope }) => known(slope));
  return rows.length ? resultTable({ caption: `${method} on data with ten times the imbalance, rows or columns`, fixed: true, rows,
    all: ["covariate", "slope", "families"].map((name) => columnOf("slopes", name)) }) : null;
}

// A link to another page, or a text if the address is not a web address.
function outside(name, target) {
  const isPage = URL.canParse(target, location.href) && ["http:", "https:", location.protocol].includes(new URL(target, location.href).protocol);
  return isPage ? h("a", { href: target, rel: "noreferrer" }, name) : `${name}: ${target}`;
}

const linksOf = (links) => (links ?? []).map(([name, target]) => [outside(name, target), " "]);

function missing(kind) {
  return state.id ? h("p", { class: "empty" }, `There is no ${kind} ${state.id} here.`) : null;
}

function dataView() {
  const { data_sets: all } = setting();
  if (state.id && all.has(state.id)) return dataSet(all.get(state.id));
  const rows = [...all.values()].filter((row) => inGroup(row.data_set));
  const names = ["family", "rows", "features", "positive_share", "duplicates", "best", "licence"].filter((name) => rows.some((row) => !isMissing(row[name])));
  const first = columnOf("data_sets", "data_set", { cell: (row) => dataLink(row.data_set) });
  return section("data", many(rows.length, "data set"), missing("data set"), controls(true),
    resultTable({ caption: "Data sets", all: [first, ...names.map((name) => columnOf("data_sets", name))], rows }));
}

const USUAL = ["own_setting", "mean", "train_seconds", "target_seconds", "gaps"]; // columns of results beside those of the forest plot
const WIDE = ["parameters", "command", "chosen", "edges"];

function dataSet(own) {
  const name = own.data_set;
  const found = new Map(gains({ data_set: name }).map((row) => [row.method, row]));
  const none = { gain: null, low: null, high: null, verdict: "" };
  const rows = setting().results.filter((row) => row.data_set === name && isShown(row.method))
    .map((row) => ({ ...row, ...none, ...found.get(row.method), runs: row.runs, mean: meanOf(row), std: measureAt() ? row[`${measure().name}_std`] : row.std }))
    .sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  const more = state.columns === "all";
  const listed = [...columns.results.keys()].filter((each) => !["data_set", "method", ...Object.keys(none)].includes(each)
    && (more || USUAL.includes(each)) && rows.some((row) => !isMissing(row[each])));
  const all = [
    columnOf("results", "method", { cell: (row) => [methodCell(row), isNarrow() ? smaller(verdictCell(row)) : null] }),
    ...forestColumns(rows, "results", 240),
    ...listed.map((each) => columnOf("results", each, WIDE.includes(each) ? { kind: "wide" } : {})),
  ];
  const seen = [...columns.data_sets.values()].filter((each) => !["data_set", "licence", "setting_text"].includes(each.name));
  const change = () => set({ columns: more ? "" : "all" });
  return [
    section("facts", name, controls(false, select("Data set", "id", named([...setting().data_sets.keys()]), name)),
      h("p", null, own.summary), facts(seen.map((each) => [words(each.heading), shown(each, own)]))),
    curves(name, rows),
    section("results", `Results on ${name}`,
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: more, "data-key": "columns", onchange: change }), " all columns"),
      resultTable({ caption: `Results on ${name}`, all, rows, marked: (row) => row.method === reference() }),
      reading("Gains are means over the common runs, with 95 % intervals over the runs.")),
    section("source", "About the data", facts([
      ["Citation", own.citation], ["Licence", own.licence], ["Positive labels", own.positive], ["Negative labels", own.negative],
      ["Links", linksOf(own.links)], ["Setting", own.setting_text]])),
  ];
}

const COSTS = { seconds: ["training time", FORMS.duration], passes: ["passes over the training rows", FORMS.number], samples: ["rows seen", FORMS.compact] };

// The curves of a data set, of the report's own measure: the reference and the best of the ranking have colours, or what was chosen.
function curves(name, rows) {
  const found = measureAt() ? [] : where(setting().curves, { data_set: name }).filter(({ method }) => isShown(method));
  if (!found.length) return null;
  const cost = Object.hasOwn(COSTS, state.x) ? state.x : "seconds";
  const [label, format] = COSTS[cost];
  const x = { label: `${label} (log)`, short: label, format };
  const off = (each, sign) => each.mean.map((mean, k) => mean + sign * each.std[k]);
  const series = found.map((each) => ({ method: each.method, xs: each[cost], ys: each.mean, low: off(each, -1), high: off(each, 1) }));
  const usual = [...setting().methods.keys()].sort((a, b) => (place.get(a) ?? 1e9) - (place.get(b) ?? 1e9)).slice(0, 8);
  const lit = new Set([...usual.filter((each) => !state.off.includes(each)), ...state.lit]);
  const choose = (method) => set(lit.has(method)
    ? { lit: state.lit.filter((each) => each !== method), off: [...new Set([...state.off, method])] }
    : { lit: [...state.lit, method], off: state.off.filter((each) => each !== method) });
  const all = series.flatMap(({ ys }) => ys.filter(known));
  const high = Math.max(...all);
  const [least] = bulk(series.map(({ ys }) => ys[ys.length - 1]));
  const low = state.y === "whole" ? Math.min(...all) : Math.max(0, least - 0.6 * Math.max(high - least, 0.002));
  const y = { label: `test ${measure().symbol}`, low, high: high + (high - low) * 0.03, format: FORMS.fixed };
  const goals = found.map((each) => ({ method: each.method, xs: each[cost], ys: each.suboptimality ?? [] })).filter(({ ys }) => ys.some((value) => value > 0));
  const left = goals.flatMap(({ ys }) => ys.filter((value) => value > 0));
  const distance = { kind: "log", label: "relative suboptimality", low: Math.min(...left), high: Math.max(...left), format: FORMS.tiny, tick: FORMS.tiny };
  return section("curves", "Curves",
    h("div", { class: "controls" }, toggle("Against", "x", [["seconds", "seconds"], ["passes", "passes"], ["samples", "rows seen"]]),
      toggle("Axis", "y", [["close", "close"], ["whole", "whole"]])),
    lineplot({ series, lit, width: room(), height: 380, label: `Mean test ${measure().symbol} against ${label}`, x, y }),
    goals.length ? lineplot({ series: goals, lit, width: room(), height: 300, label: `Relative suboptimality against ${label}`, x, y: distance }) : null,
    h("div", { class: "keys", role: "group", "aria-label": "Methods in colour" }, rows.map(({ method }) => h("button", {
      type: "button", class: "key", "aria-pressed": String(lit.has(method)), "data-key": `key-${method}`, "data-method": method, onclick: () => choose(method),
    }, swatch(method), method))),
    reading("Means over the runs whose curves are kept; bands are one standard deviation. Buttons are in the order of the results and put methods in colour."));
}

function methodsView() {
  const { methods } = setting();
  if (state.id && methods.has(state.id)) return oneMethod(state.id, methods.get(state.id));
  const rows = verdicts().map((row) => ({ ...row, summary: methods.get(row.method)?.summary ?? "" }));
  return section("methods", many(rows.length, "method"), missing("method"), controls(true), resultTable({ caption: "Methods", rows, all: [
    columnOf("verdicts", "method", { cell: (row) => methodLink(row.method) }),
    columnOf("verdicts", "class_of_model"), columnOf("verdicts", "verdict", { cell: verdictCell }),
    { name: "summary", heading: "Summary", hint: "What the plugin says", isText: true, kind: "wide", cell: (row) => row.summary, order: (row) => row.summary }] }));
}

// The verdict on a method as sentences.
function said(method, row) {
  const parts = [method === reference() ? "This method is the reference." : "There is no gain of this method."];
  const gain = shown(columns.verdicts.get("gain"), row);
  if (known(row.gain)) parts[0] = `Gain over ${reference()}: ${gain} on ${many(row.families, "family")} (${many(row.data_sets, "data set")}).`;
  if (known(row.time_ratio) && method !== reference()) parts.push(`It trains for ${FORMS.number(row.time_ratio)} times the time of ${reference()}.`);
  if (row.without) parts.push(row.without);
  if (row.verdict === "undecided" && known(row.more_families)) parts.push(`${many(row.more_families, "family")} more would decide.`);
  return h("p", { class: "said" }, swatch(method), " ", row.verdict ? [chip(row.verdict), ". "] : null, parts.join(" "));
}

function oneMethod(method, own) {
  const groups = verdicts({ method });
  const results = new Map(setting().results.filter((row) => row.method === method).map((row) => [row.data_set, row]));
  const rows = gains({ method }).filter((row) => inGroup(row.data_set)).sort((a, b) => b.gain - a.gain).map((row) => {
    const [data, result] = [setting().data_sets.get(row.data_set), results.get(row.data_set)];
    return { ...result, ...row, positive_share: data.positive_share, rows: data.rows, mean: meanOf(result), std: measureAt() ? null : result.std };
  });
  const gaps = [...results.values()].filter((row) => row.gaps);
  const first = (cell) => ({ cell: (row) => [cell(row), isNarrow() ? smaller(verdictCell({ ...row, method: null })) : null] });
  return [
    section("method", method, controls(true, select("Method", "id", named([...setting().methods.keys()].sort(naturally)), method)),
      said(method, groups.find((row) => row.group === group()) ?? {}), h("p", null, own.summary),
      facts([["Plugin", own.algorithm], ["Model", own.class_of_model], ["Own setting", own.own_setting], ["Distribution", own.distribution],
        ["Source", /^https?:/.test(own.source) ? outside(own.source, own.source) : own.source], ["Claims", own.claims], ["Paper", own.citation],
        ["How it differs from its paper", own.deviations.length ? h("ul", null, own.deviations.map((each) => h("li", null, each))) : ""],
        ["Links", linksOf(own.links)], ["Exempt from checks", own.exempt]])),
    rows.length ? section("groups", "On which data?",
      resultTable({ caption: `${method} by groups of data sets`, fixed: true, rows: groups, all: [
        columnOf("verdicts", "group", first((row) => row.group)), ...forestColumns(groups, "verdicts", 420),
        columnOf("verdicts", "families"), columnOf("verdicts", "time_ratio", { cell: times })] }),
      gainByShare(method, Math.min(room(), 760)), slopes(method),
      reading("There is a verdict from ten families on. A point per data set; click one for its curves.")) : null,
    rows.length ? section("wins", "Where it wins, and where it loses",
      resultTable({ caption: `${method} by data sets`, rows, all: [
        columnOf("results", "data_set", first((row) => dataLink(row.data_set))), ...forestColumns(rows, "results", 270),
        columnOf("data_sets", "positive_share"), columnOf("data_sets", "rows"), columnOf("results", "mean"), columnOf("results", "train_seconds")] })) : null,
    gaps.length ? section("gaps", "Gaps", h("ul", { class: "notes" },
      gaps.map((row) => h("li", null, dataLink(row.data_set), `: ${row.gaps}. ${row.advice ?? ""}`)))) : null,
  ];
}

function notesView() {
  return section("notes", "How the numbers are made", h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))));
}
