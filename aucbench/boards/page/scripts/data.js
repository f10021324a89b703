// The report, and how its parts are found. Names are never looked up in plain objects, which know "constructor".

const report = JSON.parse(document.getElementById("data").textContent);
const looks = new Map(Object.entries(report.looks));
const methods = new Map(Object.entries(report.methods));
const algorithms = new Map(); // label of a method to the name of its plugin
const groups = grouped(); // of boards that are ranked together: tuned and untuned ones never are

for (const board of report.boards) {
  const names = board.group.boards.filter((other) => other.dataset === board.dataset);
  board.label = names.length > 1 ? `${board.dataset} #${board.number}` : board.dataset;
  board.pairs = pairsOf(board.pairwise);
  board.tried = new Map(Object.entries(board.trials));
  for (const row of board.rows) {
    row.board = board;
    algorithms.set(row.method, row.algorithm);
  }
}

for (const overall of report.overall) {
  overall.pairs = pairsOf(overall.pairwise);
  for (const name of ["ranks", "ranks_with_gaps", "incomplete", "groups", "wins", "ties", "losses", "profile", "costs", "gains_shown"]) {
    overall[name] = new Map(Object.entries(overall[name]));
  }
}

function pairsOf(nested) {
  return new Map(Object.entries(nested).map(([name, others]) => [name, new Map(Object.entries(others))]));
}

// The p-value of two methods, in whichever order it is stored.
function pairOf(pairs, one, other) {
  const found = pairs.get(one)?.get(other);
  return found ?? pairs.get(other)?.get(one) ?? null;
}

// Groups in the order of the report: each overall result owns the next of its boards.
function grouped() {
  const whole = report.overall.reduce((sum, overall) => sum + overall.boards, 0) === report.boards.length;
  const rest = [...report.boards];
  const found = report.overall.map((overall) => {
    const own = whole ? rest.slice(0, overall.boards) : rest.filter((board) => board.tuned === overall.tuned);
    const boards = own.filter((board) => board.tuned === overall.tuned);
    boards.forEach((board) => rest.splice(rest.indexOf(board), 1));
    return { tuned: overall.tuned, overall, boards };
  });
  for (const tuned of [true, false]) {
    const boards = rest.filter((board) => board.tuned === tuned);
    if (boards.length) found.push({ tuned, overall: null, boards });
  }
  found.sort((a, b) => Number(b.tuned) - Number(a.tuned));
  found.forEach((group) => named(group, found.filter((other) => other.tuned === group.tuned)));
  return found;
}

// A key for the address, and a title that says what tells it from others of its kind.
function named(group, alike) {
  const place = alike.indexOf(group);
  const kind = group.tuned ? "tuned" : "not tuned";
  const common = ({ boards }) => (boards[0]?.setting ?? "").split("; ").filter((part) => boards.every((board) => board.setting.split("; ").includes(part)));
  const own = common(group).filter((part) => !alike.every((other) => common(other).includes(part)));
  group.key = `${group.tuned ? "tuned" : "untuned"}${place ? `-${place + 1}` : ""}`;
  group.title = alike.length === 1 ? kind : `${kind}, ${own.join("; ") || `group ${place + 1}`}`;
  group.boards.forEach((board) => { board.group = group; });
}

// What a heading adds where there are several groups.
function besides(group) {
  return groups.length > 1 && group ? `, ${group.title}` : "";
}

function boardOf(number) {
  return report.boards.find((board) => String(board.number) === number) || null;
}

function rowOf(board, method) {
  return board.rows.find((row) => row.method === method) || null;
}

function shareLetter(one, other) {
  return [...(one || "")].some((letter) => (other || "").includes(letter));
}

// What went wrong with the runs of a row, as [number, word].
function troubles(row) {
  return [[row.diverged, "diverged"], [row.failed, "failed"], [row.missing, "missing"], [row.unplanned, "not planned"]].filter(([count]) => count > 0);
}

// The sentences of the notes that speak of something.
function notesOn(word) {
  return report.notes.filter((note) => note.toLowerCase().includes(word));
}
