// The report, and how its parts are found. Names are never looked up in plain objects, which know "constructor".

const report = JSON.parse(document.getElementById("data").textContent);
const colours = new Map(Object.entries(report.colours));
const methods = new Map(Object.entries(report.methods));
const algorithms = new Map(); // label of a method to the name of its plugin
const kinds = [true, false].filter((tuned) => [...report.boards, ...report.overall].some((each) => each.tuned === tuned));

for (const board of report.boards) {
  const names = report.boards.filter((other) => other.dataset === board.dataset && other.tuned === board.tuned);
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
  for (const name of ["ranks", "ranks_with_gaps", "incomplete", "groups", "wins", "ties", "losses", "profile"]) {
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

function kindText(tuned) {
  return tuned ? "tuned" : "not tuned";
}

function boardsOf(tuned) {
  return report.boards.filter((board) => board.tuned === tuned);
}

function overallOf(tuned) {
  return report.overall.find((each) => each.tuned === tuned) || null;
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
  return [[row.diverged, "diverged"], [row.failed, "failed"], [row.missing, "missing"]].filter(([count]) => count > 0);
}

function troubleText(row) {
  return troubles(row).map(([count, word]) => `${count} ${word}`).join(", ");
}

// The sentences of the notes that speak of something.
function notesOn(word) {
  return report.notes.filter((note) => note.toLowerCase().includes(word));
}
