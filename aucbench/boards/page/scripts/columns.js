// What a table of results can show: one column, one entry. `value` sorts, `text` is copied, `cell` is shown.

const NO_RUN = "no run has finished";
const GAIN = `Gain over ${report.baseline}`;

function number(id, label, hint, value, format, reason, first) {
  return {
    id, label, hint, value, first: first || "asc", numeric: true,
    text: (row) => (known(value(row)) ? format(value(row)) : ""),
    cell: (row) => (known(value(row)) ? format(value(row)) : nothing(reason(row))),
  };
}

function timed(column) {
  const { cell } = column;
  column.cell = (row) => [cell(row), row.timing_mark && known(column.value(row)) ? mark("†", row.timing_mark) : null];
  return column;
}

function mark(sign, text) {
  return h("abbr", { class: "mark", title: text, tabindex: 0, "aria-label": text }, sign);
}

function words(id, label, hint, text) {
  return { id, label, hint, first: "asc", numeric: false, value: text, text, cell: (row) => text(row) || nothing("none") };
}

const noTarget = (row) => (known(row.board.target) ? "no run reached the target AUC" : "this board has no target AUC");
const noTuning = (row) => (row.board.tuned ? "not recorded" : "nothing was tuned");
const noSpread = (row) => (row.runs > 1 ? "not computed" : row.runs === 1 ? "one run has no spread" : NO_RUN);
const noGain = (row) => (row.board.baseline_reason || (known(row.gain.value) ? `over ${row.board.baseline}` : row.shown.trouble || "no run in common with the baseline"));
const noGroup = (row) => (known(row.auc.value) ? "not compared with others" : NO_RUN);

const compared = (row) => row.wins + row.ties + row.losses > 0;

const COLUMNS = [
  {
    ...words("method", "Method", "Name of the method; parameters in brackets distinguish variants of one method", (row) => row.method),
    cell: (row) => [methodLink(row.method), row.exempt ? mark("‡", row.exempt) : null, row.edges ? mark("§", row.edges) : null],
  },
  { ...words("data", "Data set", "Data set of the board", (row) => row.board.label), cell: (row) => boardLink(row.board) },
  words("setting", "Setting", "Settings shared by all methods of the board", (row) => row.board.setting),
  {
    ...number("rank", "Rank", "By mean test AUC on this board; 1 is best, ties share the mean", (row) => row.rank, String, () => NO_RUN),
    text: (row) => (known(row.rank) ? row.shown.rank : ""),
    cell: (row) => (known(row.rank) ? row.shown.rank : nothing(`no rank: ${row.shown.trouble || NO_RUN}`)),
  },
  {
    ...number("auc", "AUC ± std", "Mean test AUC over the runs, and their standard deviation", (row) => row.auc.value, String, () => NO_RUN, "desc"),
    text: (row) => row.shown.auc_std,
    cell: (row) => (known(row.auc.value)
      ? [h("b", { title: String(row.auc.value) }, row.shown.auc), h("span", { class: "soft" }, " ± ", known(row.std) ? row.shown.std : nothing(noSpread(row)))]
      : h("span", { class: "badge", title: row.advice || null }, row.shown.auc_std)),
  },
  {
    ...number("interval", "Interval", "Confidence interval of the mean test AUC; sorts by its width", (row) => (known(row.auc.low) && known(row.auc.high) ? row.auc.high - row.auc.low : null), String, noSpread),
    text: (row) => (known(row.auc.low) && known(row.auc.high) ? row.shown.interval : ""),
    cell: (row) => (known(row.auc.low) && known(row.auc.high) ? row.shown.interval : nothing(noSpread(row))),
  },
  {
    ...words("groups", "Groups", "Methods that share a letter do not differ significantly; below the table stands by which test", (row) => row.groups),
    cell: (row) => (row.groups ? h("span", { class: "letters" }, row.groups) : nothing(noGroup(row))),
  },
  {
    ...number("wtl", "W/T/L", "Wins, ties and losses against the other methods of the board, by the test of the letters", (row) => (compared(row) ? row.wins - row.losses : null), String, noGroup, "desc"),
    text: (row) => (compared(row) ? `${row.wins}/${row.ties}/${row.losses}` : ""),
    cell: (row) => (compared(row) ? `${row.wins}/${row.ties}/${row.losses}` : nothing(noGroup(row))),
  },
  {
    ...number("gain", GAIN, `Mean difference of the AUCs of the same runs, method − ${report.baseline}, with its corrected 95 % interval`, (row) => row.gain.value, String, noGain, "desc"),
    text: (row) => row.shown.gain,
    cell: (row) => (known(row.gain.value) || row.board.baseline === "" ? h("span", { title: noGain(row) }, row.shown.gain) : nothing(noGain(row))),
  },
  timed(number("train", "Training s", "Mean training time of a run in seconds", (row) => row.train_seconds, significant, () => NO_RUN)),
  timed(number("ns", "ns/iteration", "Mean training time of one iteration in nanoseconds", (row) => row.ns_per_iteration, significant, () => NO_RUN)),
  number("bytes", "State", "Memory that the method keeps between iterations", (row) => row.state_bytes, bytes, () => "not recorded"),
  timed(number("tsec", "Target s", "Median training seconds until the target AUC of the board", (row) => row.target_seconds, significant, noTarget)),
  number("tsam", "Target samples", "Median number of samples until the target AUC of the board", (row) => row.target_samples, counted, noTarget),
  number("tshare", "Reached", "Share of the runs that reached the target AUC", (row) => row.target_share, percent, noTarget, "desc"),
  number("asam", "Anytime, samples", "Area under the AUC curve against log samples, from 0 to 1", (row) => row.anytime_samples, (v) => fixed(v, 4), () => "no curve was recorded", "desc"),
  timed(number("asec", "Anytime, seconds", "Area under the AUC curve against log seconds, from 0 to 1", (row) => row.anytime_seconds, (v) => fixed(v, 4), () => "no curve was recorded", "desc")),
  timed(number("csec", "Tuning s", "Mean time of the tuning of a run in seconds", (row) => row.tuning_seconds, significant, noTuning)),
  number("cpass", "Tuning passes", "Mean number of passes over the training data that the tuning took", (row) => row.tuning_passes, significant, noTuning),
  {
    ...number("runs", "Runs", "Finished runs, and what went wrong with others", (row) => row.runs, counted, () => NO_RUN, "desc"),
    text: (row) => [`${row.runs}`, row.shown.trouble].filter(Boolean).join(", "),
    cell: (row) => [counted(row.runs), troubles(row).map(([count, word]) => h("span", { class: "badge", title: (word === "diverged" && row.advice) || null }, `${count} ${word}`))],
  },
  { ...words("chosen", "Chosen", "Values that the tunings of the runs chose", (row) => row.chosen), wide: true, cell: (row) => row.chosen || nothing(noTuning(row)) },
  { ...words("edges", "Edges", "Chosen values at an edge of the values tried: the optimum may lie beyond", (row) => row.edges), wide: true, cell: (row) => row.edges || nothing(row.chosen ? "none" : noTuning(row)) },
  { ...words("parameters", "Parameters", "Hyperparameters, loss and feature map of the method", (row) => row.parameters), wide: true },
  {
    ...words("command", "Command", "The command that runs it again", (row) => row.command),
    cell: (row) => (row.command ? copyButton("Copy", row.command, row.command) : nothing("not recorded")),
  },
];
const USUAL = ["rank", "auc", "interval", "groups", "wtl", "gain", "train", "ns", "runs"];
const NAMES = ["method", "data"];

// The columns of a table that starts with the given names.
function columnsShown(names) {
  const wanted = state.cols === "" ? USUAL : state.cols.split(".");
  const first = names.map((id) => COLUMNS.find((column) => column.id === id));
  return [...first, ...COLUMNS.filter((column) => !NAMES.includes(column.id) && wanted.includes(column.id))];
}

function columnChooser() {
  const shown = () => (state.cols === "" ? USUAL : state.cols.split("."));
  const change = (wanted) => set({ cols: wanted.join(".") === USUAL.join(".") ? "" : wanted.join(".") || "none" });
  const choices = COLUMNS.filter((column) => !NAMES.includes(column.id));
  const box = (column) => h("label", { title: column.hint },
    h("input", {
      type: "checkbox", checked: shown().includes(column.id), "data-key": `col-${column.id}`,
      onchange: () => change(choices.map((each) => each.id).filter((id) => (id === column.id) !== shown().includes(id))),
    }), " ", column.label);
  return h("details", { class: "chooser" }, h("summary", null, "Columns"),
    live(["cols"], () => [
      h("div", { class: "boxes" }, choices.map(box)),
      h("div", { class: "row" },
        h("button", { type: "button", "data-key": "col-all", onclick: () => change(choices.map((each) => each.id)) }, "All"),
        h("button", { type: "button", "data-key": "col-usual", onclick: () => change(USUAL) }, "Default")),
    ], { class: "panel" }));
}
