// The picture of one method: how far it is behind the best method of each data set.

const NEAREST = 1e-4; // a smaller gap is drawn at the edge

function methodGaps(name, group) {
  const found = group.boards.flatMap((board) => {
    const best = Math.max(...board.rows.map((row) => row.auc.value).filter(known));
    const own = board.rows.filter((row) => row.algorithm === name && known(row.auc.value));
    return own.length ? [{ board, points: own.map((row) => ({ row, gap: best - row.auc.value })) }] : [];
  });
  if (!found.length) return null;
  return section(`gaps-${group.key}`, `Gap to the best${besides(group)}`,
    live([], () => gapsPicture(name, found)),
    reading(`How far the mean test ${report.measure.title} is below that of the best method of each data set; further left is better. `,
      `Gaps below ${NEAREST} are drawn at the left edge; the number is the rank.`));
}

function gapsPicture(name, found) {
  const width = Math.min(room(), 900);
  const left = width > 600 ? 210 : 118;
  const right = width - 58;
  const bottom = found.length * 22 + 14;
  const largest = Math.max(NEAREST * 10, ...found.flatMap(({ points }) => points.map(({ gap }) => gap)));
  const scale = logScale(NEAREST, largest * 1.15, left, right);
  return picture(width, bottom + 44, `Gap of ${name} to the best ${report.measure.title} on ${many(found.length, "data set")}`,
    bottomAxis(scale, { top: 4, bottom, left, right, label: `best ${report.measure.symbol} − ${report.measure.symbol}`, format: tidy }),
    found.map(({ board, points }, k) => {
      const y = k * 22 + 16;
      const at = ({ gap }) => scale.at(Math.max(gap, NEAREST));
      const first = points.reduce((one, other) => (other.gap < one.gap ? other : one));
      return s("g", null,
        s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, short(board.dataset, width > 600 ? 30 : 16), s("title", null, board.dataset)),
        s("path", { class: "grid", d: `M${left} ${y}H${right}` }),
        points.map((point) => s("g", null, markerShape(lookOf(point.row.method), at(point), y, 4.5),
          s("title", null, `${point.row.method} on ${board.dataset}: ${tidy(point.gap)} below the best`))),
        s("text", { x: right + 10, y: y + 4 }, first.row.cells.rank[2] ? "–" : `#${first.row.cells.rank[0]}`));
    }));
}
