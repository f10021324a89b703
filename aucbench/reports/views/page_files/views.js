// The views: the overview, the data sets, the methods, and the notes.

function controls(withGroups, ...more) {
  const methods = references().map((name) => [name, name]);
  const groups = [...setting().groups].map(([name, own]) => [name, `${name} (${own.length})`]);
  return h("div", { class: "controls", role: "group", "aria-label": "What is compared" },
    report.settings.length > 1 ? select("Setting", "setting", report.settings.map(({ name }) => [name, name]), setting().name) : null,
    methods.length ? select("Reference", "ref", methods, reference(), (value) => set({ ref: value === setting().reference ? "" : value })) : null,
    report.measures.length > 1 ? select("Measure", "measure", report.measures.map(({ name, title }) => [name, title]), measure().name) : null,
    withGroups && groups.length > 1 ? select("Data sets", "group", groups, group()) : null, more);
}

// How many methods got which verdict; it is also the legend of the colours.
function tally(rows) {
  const counts = Object.keys(report.colours).map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length]).filter(([, count]) => count);
  if (comparison().rope === null) return [h("p", { class: "tally" }, "There are no verdicts: no difference that does not matter in practice was named for this measure.")];
  const most = Math.max(0, ...rows.map((row) => row.families ?? 0));
  return h("p", { class: "tally" }, `Against ${reference()}, over ${many(most, "family")} of data: `,
    counts.length ? counts.map(([verdict, count]) => [h("span", { class: "count" }, h("b", null, String(count)), " ", chip(verdict)), " "]) : "no verdicts, which takes ten families or a single data set",
    h("span", { class: "soft" }, `the band is ± ${comparison().rope} ${measure().symbol}`));
}

function overallView() {
  const rows = verdicts();
  if (!rows.length) return h("p", { class: "empty" }, "There are no results yet.");
  const chosen = setting().methods.has(state.of) ? state.of : rows.find((row) => known(row.gain))?.method ?? reference();
  const half = isNarrow() ? room() : Math.floor((room() - 28) / 2);
  return [
    section("ranking", `Gain over ${reference() || "the reference"}`, controls(true), tally(rows), ranking(rows),
      reading("Points are mean gains over families of data sets, with 95 % intervals that hold for all methods at once; arrows go on beyond the picture. A method names its own view.")),
    h("div", { class: "pair" },
      section("imbalance", "On which data?",
        select("Method", "of", rows.map(({ method }) => [method, method]), chosen), gainByShare(chosen, half),
        reading("A point per data set, with its interval over the runs: gain of the method over the reference. A click leads to the data set.")),
      section("cost", "At what cost?", meanAgainstCost(rows, half),
        reading("Training time includes the tuning. The line joins the methods that no other beats in both; far ones are drawn at the edge."))),
    section("heat", "Methods by data sets",
      toggle("Show", "heat", [["gain", `gain over ${reference()}`], ["mean", measure().symbol]]), heatMap(rows),
      reading(state.heat === "gain" ? "Gains in thousandths; the data sets with the rarest class come first. " : "The darker, the better on that data set; the rarest class comes first. ", "A click leads to the curves of the data set.")),
  ];
}

const times = (row) => (known(row.time_ratio) ? `${FORMS.number(row.time_ratio)}×` : "–");

function ranking(rows) {
  const narrow = isNarrow();
  const withGaps = rows.some((row) => row.gaps);
  const name = (row) => [methodLink(row.method), setting().methods.get(row.method)?.linear === false ? h("span", { class: "soft tag" }, "not linear") : null];
  const all = [
    columnOf("verdicts", "method", { cell: (row) => (narrow ? [name(row), h("span", { class: "below" }, verdictCell(row))] : name(row)) }),
    ...forestColumns(rows),
    columnOf("verdicts", "time_ratio", narrow ? { cell: (row) => [times(row), h("span", { class: "below soft" }, known(row.mean) ? row.mean.toFixed(3) : "–")], heading: `Time, ${measure().symbol}` } : { cell: times }),
    ...(narrow ? [] : [columnOf("verdicts", "mean"), {
      ...columnOf("verdicts", "better"), heading: "Worse / same / better", hint: "Shares of the families on which it loses more than the band, stays inside it, gains more", cell: shares,
    }]),
    withGaps ? columnOf("verdicts", "gaps") : null,
  ].filter(Boolean);
  return resultTable({ caption: `Methods against ${reference()}`, all, rows, marked: (row) => row.method === reference() });
}

// Facts of one thing as a list of names and values; empty ones are left out.
function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value && value !== "–" && value.length !== 0).map(([name, value]) => h("div", { class: value instanceof Node || String(value).length > 48 ? "long" : null }, h("dt", null, name), h("dd", null, value))));
}

// A link to another page, and a text where the address is of any other kind.
function outside(name, target) {
  const isPage = URL.canParse(target, location.href) && ["http:", "https:", location.protocol].includes(new URL(target, location.href).protocol);
  return isPage ? h("a", { href: target, rel: "noreferrer" }, name) : `${name}: ${target}`;
}

function dataView() {
  const { data_sets: all } = setting();
  if (state.id && all.has(state.id)) return dataSet(all.get(state.id));
  const rows = [...all.values()].filter((row) => inGroup(row.data_set));
  const names = ["family", "rows", "features", "positive_share", "duplicates", "best", "licence"].filter((name) => rows.some((row) => !isMissing(row[name])));
  return section("data", many(rows.length, "data set"), state.id ? h("p", { class: "empty" }, `There is no data set ${state.id} here.`) : null, controls(true),
    resultTable({ caption: "Data sets", all: [columnOf("data_sets", "data_set", { cell: (row) => dataLink(row.data_set) }), ...names.map((name) => columnOf("data_sets", name))], rows }));
}

const SHORT = ["mean", "train_seconds", "target_seconds", "gaps"];

function dataSet(own) {
  const name = own.data_set;
  const found = new Map(gains({ data_set: name }).map((row) => [row.method, row]));
  const rows = setting().results.filter((row) => row.data_set === name)
    .map((row) => ({ ...row, run_low: row.low, run_high: row.high, gain: null, low: null, high: null, verdict: "", ...found.get(row.method), runs: row.runs, mean: meanOf(row), std: measureAt() ? row[`${measure().name}_std`] : row.std }))
    .sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  const more = state.columns === "all";
  const first = ["data_set", "method", "gain", "verdict", "low", "high"];
  const listed = [...columns.results.keys()].filter((each) => !first.includes(each) && (more || SHORT.includes(each)) && rows.some((row) => !isMissing(row[each])));
  const narrow = isNarrow();
  const method = columnOf("results", "method", { cell: (row) => (narrow ? [methodLink(row.method), h("span", { class: "below" }, verdictCell(row))] : methodLink(row.method)) });
  return [
    section("facts", name, controls(false, select("Data set", "id", [...setting().data_sets.keys()].map((each) => [each, each]), name)), h("p", null, own.summary),
      facts([...columns.data_sets.values()].filter((each) => !["data_set", "licence", "setting_text"].includes(each.name)).map((each) => [words(each.heading), shown(each, own)]))),
    curves(name, rows),
    section("results", `Results on ${name}`,
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: more, "data-key": "columns", onchange: () => set({ columns: more ? "" : "all" }) }), " all columns"),
      resultTable({ caption: `Results on ${name}`, all: [method, ...forestColumns(rows, "results", 240), ...listed.map((each) => columnOf("results", each, ["parameters", "command", "chosen", "edges"].includes(each) ? { kind: "wide" } : {}))], rows, marked: (row) => row.method === reference() }),
      reading("Gains are means over the common runs, with 95 % intervals over the runs.")),
    section("source", "About the data", facts([
      ["Citation", own.citation], ["Licence", own.licence], ["Positive labels", own.positive], ["Negative labels", own.negative],
      ["Links", (own.links ?? []).map(([label, target]) => [outside(label, target), " "])], ["Setting", own.setting_text]])),
  ];
}

const COSTS = { seconds: ["training time", FORMS.duration], passes: ["passes over the training rows", FORMS.number], samples: ["rows seen", FORMS.compact] };

function curves(name, rows) {
  if (measureAt()) return null; // curves are those of the main measure
  const found = where(setting().curves, { data_set: name });
  if (!found.length) return null;
  const cost = Object.hasOwn(COSTS, state.x) ? state.x : "seconds";
  const [label, format] = COSTS[cost];
  const series = found.map((each) => ({ method: each.method, xs: each[cost], ys: each.mean, low: each.mean.map((mean, k) => mean - each.std[k]), high: each.mean.map((mean, k) => mean + each.std[k]), suboptimality: each.suboptimality }));
  const usual = [...setting().methods.keys()].sort((a, b) => (place.get(a) ?? 1e9) - (place.get(b) ?? 1e9)).slice(0, 8);
  const lit = new Set([...usual.filter((each) => !state.off.includes(each)), ...state.lit]);
  const ends = series.map(({ ys }) => ys[ys.length - 1]);
  const high = Math.max(...series.flatMap(({ ys }) => ys.filter(known)));
  const [least] = bulk(ends);
  const low = state.y === "whole" ? Math.min(...series.flatMap(({ ys }) => ys.filter(known))) : Math.max(0, least - 0.6 * Math.max(high - least, 0.002));
  const choose = (method) => set(lit.has(method)
    ? { lit: state.lit.filter((each) => each !== method), off: usual.includes(method) ? [...new Set([...state.off, method])] : state.off }
    : { lit: [...state.lit, method], off: state.off.filter((each) => each !== method) });
  const goals = series.filter(({ suboptimality }) => suboptimality?.some((value) => value > 0));
  const positive = goals.flatMap(({ suboptimality }) => suboptimality.filter((value) => value > 0));
  const order = rows.map((row) => row.method).filter((method) => found.some((each) => each.method === method));
  return section("curves", "Curves",
    h("div", { class: "controls" }, toggle("Against", "x", [["seconds", "seconds"], ["passes", "passes"], ["samples", "rows seen"]]), toggle("Axis", "y", [["close", "close"], ["whole", "whole"]])),
    lineplot({ series, lit, width: room(), height: 380, label: `Mean test ${measure().symbol} against ${label}`,
      x: { label: `${label} (log)`, short: label, format }, y: { label: `test ${measure().symbol}`, low, high: high + (high - low) * 0.03, format: (value) => FORMS.fixed(value) } }),
    goals.length ? lineplot({ series: goals.map((each) => ({ ...each, ys: each.suboptimality, low: null, high: null })), lit, width: room(), height: 300, label: `Relative suboptimality against ${label}`,
      x: { label: `${label} (log)`, short: label, format }, y: { kind: "log", label: "relative suboptimality", low: Math.min(...positive), high: Math.max(...positive), format: FORMS.tiny, tick: FORMS.tiny } }) : null,
    h("div", { class: "keys", role: "group", "aria-label": "Methods in colour" }, order.map((method) => h("button", {
      type: "button", class: "key", "aria-pressed": String(lit.has(method)), "data-key": `key-${method}`, "data-method": method, onclick: () => choose(method),
    }, swatch(method), method))),
    reading("Means over the runs; bands are one standard deviation. Buttons are in the order of the results and put methods in colour."));
}

const NO_PLUGIN = { summary: "", citation: "", claims: "", deviations: [], source: "", distribution: "", links: [] };

function methodsView() {
  const { methods } = setting();
  if (state.id && methods.has(state.id)) return oneMethod(state.id, methods.get(state.id));
  const rows = verdicts().map((row) => ({ ...row, summary: plugins.get(methods.get(row.method)?.algorithm)?.summary ?? "" }));
  return section("methods", many(rows.length, "method"), state.id ? h("p", { class: "empty" }, `There is no method ${state.id} here.`) : null, controls(true),
    resultTable({ caption: "Methods", rows, all: [
      columnOf("verdicts", "method", { cell: (row) => methodLink(row.method) }), columnOf("verdicts", "verdict", { cell: verdictCell }),
      { name: "summary", heading: "Summary", hint: "What the plugin says", isText: true, kind: "wide", cell: (row) => row.summary, order: (row) => row.summary }] }));
}

function oneMethod(method, own) {
  const plugin = plugins.get(own.algorithm) ?? NO_PLUGIN;
  const overall = verdicts({ method });
  const all = overall.find((row) => row.group === group()) ?? {};
  const results = new Map(setting().results.filter((row) => row.method === method).map((row) => [row.data_set, row]));
  const rows = gains({ method }).filter((row) => inGroup(row.data_set)).sort((a, b) => b.gain - a.gain).map((row) => {
    const [data, result] = [setting().data_sets.get(row.data_set), results.get(row.data_set)];
    return { ...result, ...row, runs: result.runs, positive_share: data.positive_share, rows: data.rows, mean: meanOf(result), std: measureAt() ? null : result.std };
  });
  const gaps = [...results.values()].filter((row) => row.gaps);
  const narrow = isNarrow();
  const below = (first) => (row) => (narrow ? [first(row), h("span", { class: "below" }, verdictCell({ ...row, method: null }))] : first(row));
  return [
    section("method", method, controls(true, select("Method", "id", [...setting().methods.keys()].sort(naturally).map((each) => [each, each]), method)),
      h("p", { class: "said" }, swatch(method), " ", known(all.gain) ? [all.verdict ? [chip(all.verdict), ". "] : null, `Gain over ${reference()}: ${shown(columns.verdicts.get("gain"), all)} on ${many(all.families, "family")} (${many(all.data_sets, "data set")}). `] : method === reference() ? "This method is the reference. " : "There is no gain of this method. ",
        known(all.time_ratio) && method !== reference() ? `It trains for ${FORMS.number(all.time_ratio)} times the time of ${reference()}. ` : "", all.without ? `${all.without} ` : "",
        all.verdict === "undecided" && known(all.more_families) ? `${many(all.more_families, "family")} more would decide. ` : ""),
      h("p", null, plugin.summary),
      facts([["Plugin", own.algorithm], ["Model", own.linear === false ? "not linear" : "linear"], ["Distribution", plugin.distribution], ["Source", /^https?:/.test(plugin.source) ? outside(plugin.source, plugin.source) : plugin.source],
        ["Claims", plugin.claims], ["Paper", plugin.citation], ["Links", plugin.links.map(([label, target]) => [outside(label, target), " "])], ["Exempt from checks", own.exempt],
        ["How it differs from its paper", plugin.deviations.length ? h("ul", null, plugin.deviations.map((each) => h("li", null, each))) : ""]])),
    rows.length ? section("groups", "On which data?",
      resultTable({ caption: `${method} by groups of data sets`, fixed: true, rows: overall.map((row) => ({ ...row, method: null })), all: [
        columnOf("verdicts", "group", { cell: below((row) => row.group) }), ...forestColumns(overall, "verdicts", 420), columnOf("verdicts", "families"),
        columnOf("verdicts", "time_ratio", { cell: times })] }),
      gainByShare(method, Math.min(room(), 760)),
      reading("Below ten families there is no verdict. A point per data set; a click leads to its curves.")) : null,
    rows.length ? section("wins", "Where it wins, and where it loses",
      resultTable({ caption: `${method} by data sets`, rows, all: [
        columnOf("results", "data_set", { cell: below((row) => dataLink(row.data_set)) }), ...forestColumns(rows, "results", 270), columnOf("data_sets", "positive_share"), columnOf("data_sets", "rows"),
        columnOf("results", "mean"), columnOf("results", "train_seconds"), columnOf("results", "state_bytes")] })) : null,
    gaps.length ? section("gaps", "Gaps", h("ul", { class: "notes" }, gaps.map((row) => h("li", null, dataLink(row.data_set), `: ${row.gaps}. ${row.advice ?? ""}`)))) : null,
  ];
}

function notesView() {
  return section("notes", "How the numbers are made", h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))));
}
