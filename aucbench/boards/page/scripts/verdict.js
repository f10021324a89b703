// Who leads, and how sure that is, in a sentence.

function standing(overall) {
  const complete = [...overall.ranks].filter(([, rank]) => known(rank?.value));
  const gapped = [...overall.ranks_with_gaps].filter(([, rank]) => known(rank?.value));
  const used = complete.length ? complete : gapped;
  return {
    complete: complete.length > 0,
    order: used.sort((a, b) => a[1].value - b[1].value || naturally(a[0], b[0])).map(([method, rank]) => ({ method, rank })),
  };
}

function strong(text) {
  return h("strong", null, text);
}

function verdict(overall) {
  const { order, complete } = standing(overall);
  if (!order.length) return h("p", { class: "verdict" }, "No method has a rank yet: no board has finished runs of two methods.");
  const lead = order[0];
  const level = order.filter((each) => each.rank.value === lead.rank.value).map((each) => each.method);
  const rivals = order.filter((each) => !level.includes(each.method)).map((each) => each.method);
  const used = complete && overall.ranked_boards ? overall.ranked_boards : overall.boards;
  const where = overall.boards === 1 ? "on the only data set" : `over ${many(used, "data set")}`;
  const range = known(lead.rank.low) && known(lead.rank.high) ? ` (${lead.rank.bounds})` : "";
  if (overall.boards === 1 && level.length === 1 && rivals.length) {
    return h("p", { class: "verdict" }, strong(lead.method), " is first on the only data set. One data set cannot say which method is better in general.");
  }
  const start = level.length > 1
    ? [strong(list(level)), ` share the lead with an average rank of ${lead.rank.shown}${range} ${where}`]
    : [strong(lead.method), ` leads with an average rank of ${lead.rank.shown}${range} ${where}`];
  return h("p", { class: "verdict" }, start, sureness(overall, level, rivals),
    complete ? unranked(overall, lead.rank.value) : " No board is complete for all, so these ranks have gaps.");
}

// Methods with gaps that would be ahead on the boards they are on: a lead without them is no lead over them.
function unranked(overall, best) {
  const found = [...overall.ranks_with_gaps].filter(([method, rank]) => !known(overall.ranks.get(method)?.value) && known(rank?.value) && rank.value <= best);
  if (!found.length) return null;
  const why = found.length > 1 ? "their gaps, and no worse on the boards they are on" : "its gaps, and no worse on the boards it is on";
  return ` Left out for ${why}: ${list(found.map(([method, rank]) => `${method} (${rank.shown} with gaps)`))}.`;
}

function sureness(overall, level, rivals) {
  if (!rivals.length) return level.length > 1 ? "." : "; there is nobody to compare it with.";
  if (overall.boards === 1) return ". One data set cannot say which method is better in general.";
  const letters = overall.groups.get(level[0]);
  if (!letters) return `. Whether that is more than chance was not tested.`;
  const near = rivals.filter((name) => shareLetter(letters, overall.groups.get(name)));
  if (!near.length) return `, significantly ahead of ${rivals.length === 1 ? rivals[0] : `all ${rivals.length} others`}.`;
  const p = pairOf(overall.pairs, level[0], rivals[0]);
  const next = near.includes(rivals[0]) && known(p) && p >= LEVEL ? ` Against ${rivals[0]}, the next, Wilcoxon's test gives p = ${fixed(p, 3)} after Holm's correction.` : "";
  if (near.length === rivals.length) return `, but no method is significantly behind it: the order may be chance.${next}`;
  const who = near.length <= 4 ? list(near) : `${near.length} methods (${near.slice(0, 3).join(", ")} …)`;
  return `; not significantly behind it: ${who}.${next}`;
}

// The same for one board, by mean AUC.
function boardVerdict(board) {
  const ranked = board.rows.filter((row) => known(row.auc.value)).sort((a, b) => b.auc.value - a.auc.value);
  if (!ranked.length) return h("p", { class: "verdict" }, "No run has finished on this board.");
  const [lead, ...rivals] = ranked;
  const range = known(lead.auc.low) && known(lead.auc.high) ? ` (${lead.shown.interval})` : "";
  const start = [strong(lead.method), ` has the highest mean test AUC, ${lead.shown.auc}${range} over ${many(lead.runs, "run")}`];
  const near = rivals.filter((row) => shareLetter(lead.groups, row.groups)).map((row) => row.method);
  let end = ".";
  if (!rivals.length) end = "; it is alone on this board.";
  else if (!lead.groups) end = "; whether that is more than chance was not tested.";
  else if (!near.length) end = `, significantly above ${rivals.length === 1 ? "the other" : `all ${rivals.length} others`}${board.rows.length > ranked.length ? " that have results" : ""}.`;
  else if (near.length === rivals.length) end = ", but no method is significantly below it.";
  else end = `; not significantly below it: ${near.length <= 4 ? list(near) : `${near.length} methods (${near.slice(0, 3).join(", ")} …)`}.`;
  return h("p", { class: "verdict" }, start, end);
}
