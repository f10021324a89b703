"""The verdict on a trial, in words: where a method stands on AUC and speed, and what to look at next."""

import math

import numpy as np

from aucbench.trying.contest import STOCHASTIC, TUNED, Contest, Standing

FAR = 0.02
SLOW = 20.0  # times the time of an iteration of the others
RISING = 0.003  # that a curve gains in its last half of log samples
BETTER = 0.005  # that a tuning gains
TEST = "paired t-test over the runs with Nadeau and Bengio's correction, Holm over all pairs, 5 %"
REVERSED = 0.4  # an AUC below it is no accident of a method that learns nothing


def verdict(contest: Contest) -> list[str]:
    """Sentences: AUC on each data set, speed, what failed, remarks, and what to look at next."""
    lines = [line for dataset in contest.datasets if (line := _auc(contest, dataset))]
    if any("significantly" in line for line in lines):
        lines.append(f"significance is that of the leaderboard: {TEST}.")
    lines += _reversed(contest) + _failures(contest)
    lines += _speed(contest)
    lines += [f"Note: {remark}." for remark in contest.remarks]
    return [*lines, *(f"Next: {step}" for step in _next(contest))]


def _reversed(contest: Contest) -> list[str]:
    owns = [own for dataset in contest.datasets if (own := contest.own(dataset)) and own.auc < REVERSED]
    told = [f"AUC {own.auc:.4f} on {own.dataset}, with the sign changed {1.0 - own.auc:.4f}" for own in owns]
    return [f"scores look reversed: {'; '.join(told)}."] if told else []


def _failures(contest: Contest) -> list[str]:
    """Why the tried method could not run, each reason once."""
    found: dict[str, list[str]] = {}
    for (label, dataset), each in contest.standings.items():
        if label in (contest.name, contest.name + TUNED) and each.trouble:
            what = "its tuning" if label != contest.name else "it"
            verb = "failed" if each.failed else "did not run"
            found.setdefault(f"{what} {verb}: {each.trouble.rstrip('.')}.", []).append(dataset)
    return [f"{_listed(names)}: {text}" for text, names in found.items()]


def _auc(contest: Contest, dataset: str) -> str:
    own = contest.own(dataset)
    if own is None:
        return ""
    if own.diverged_at is not None:
        even = "even tuned, " if contest.at(contest.name + TUNED, dataset) else ""
        return f"{dataset}: {even}it diverged, at iteration {own.diverged_at:,}; a diverged run has no AUC."
    words = f"{dataset}: test AUC {own.auc:.4f}"
    if len(own.cells) == 1:
        words += " of one run"
    if own.planned is not None:
        words += f" after {own.iterations:,} of {own.planned:,} iterations"
    words += _rank(own, contest.rivals(own))
    optimum = contest.optimum(own)
    if optimum is not None and math.isfinite(optimum.auc):
        gap = optimum.auc - own.auc
        far = f"{gap:.4f} below" if gap > 0 else f"{-gap:.4f} above"
        words += f"; {far} the batch optimum of {optimum.label}"
    default = contest.at(contest.name, dataset)
    tuned = contest.at(contest.name + TUNED, dataset)
    if default is not None and default.diverged_at is not None:
        words += f"; this is tuned, with its defaults it diverged at iteration {default.diverged_at:,}"
    elif default is not None and default is not own:
        words += f"; this is tuned, with its defaults {default.auc:.4f}"
    elif tuned is not None:
        reached = "it diverged" if tuned.diverged_at is not None else f"{tuned.auc:.4f}"
        words += f"; this is with its defaults, tuned {reached}"
    return words + "."


def _rank(own: Standing, rivals: list[Standing]) -> str:
    """Its rank by mean AUC, and from which of the others it differs significantly."""
    if not rivals:
        return ""
    outcomes = _outcomes(own, rivals)
    best = max(rivals, key=lambda each: each.auc)
    words = f", {_ordinal(1 + sum(each.auc > own.auc for each in rivals))} of {len(rivals) + 1}"
    alike = [f"{each.label} ({each.auc:.4f})" for each in rivals if outcomes[each.label] == "tie"]
    if alike:
        words += f", not significantly different from {_listed(alike)}"
    if outcomes[best.label] in ("win", "loss"):
        side = "above" if outcomes[best.label] == "win" else "below"
        words += f"{', ' if not alike else ' and '}significantly {side} {best.label}'s {best.auc:.4f}"
    elif not alike:
        words += f"; {best.label} has {best.auc:.4f}"
    if own.planned is not None and len(own.curve[0]):
        words += f"; after as many samples {best.label} had {best.auc_after(own.curve[0][-1]):.4f}"
    return words


def _outcomes(own: Standing, rivals: list[Standing]) -> dict[str, str]:
    """By rival the outcome of the leaderboard's test over the first runs that all of them have.

    ``win``, ``tie`` or ``loss`` of the method, ``untested`` where there is a single run.
    """
    import pandas as pd

    from aucbench.boards.conditions import overlap
    from aucbench.boards.statistics import compare_runs

    every = [own, *rivals]
    runs = range(min(len(each.cells) for each in every))
    rows = [
        ("trial", own.dataset, each.label, run, each.aucs[run], "finished") for each in every for run in runs
    ]
    frame = pd.DataFrame(rows, columns=["board", "dataset", "method", "run", "auc", "status"])
    ratio = overlap(each.cells[run].record for each in every for run in runs)
    mirrored = {"win": "loss", "loss": "win"}
    found = {}
    for row in compare_runs(frame, ratio).to_dict("records"):
        outcome = str(row["outcome"])
        if row["first"] == own.label:
            found[str(row["second"])] = outcome
        elif row["second"] == own.label:
            found[str(row["first"])] = mirrored.get(outcome, outcome)
    return found


def _speed(contest: Contest) -> list[str]:
    ratios = _ratios(contest)
    own = [each.nanoseconds for d in contest.datasets if (each := contest.at(contest.name, d))]
    if not own or not ratios:
        return []
    unit = {"full": "pass over everything", "minibatch": "minibatch"}.get(contest.access, "iteration")
    told = ", ".join(
        f"{ratio:.3g} times {name}'s" if ratio >= 1 else f"1/{1 / ratio:.3g} of {name}'s"
        for name, ratio in ratios.items()
    )
    return [f"speed: {np.median(own):,.0f} ns per {unit}, {told} (medians over the data sets)."]


def _ratios(contest: Contest) -> dict[str, float]:
    """Its time per iteration as a multiple of each other method's, the median over the data sets."""
    found = {}
    for name in STOCHASTIC:
        each = [
            own.nanoseconds / max(1.0, other.nanoseconds)
            for dataset in contest.datasets
            if name != contest.name
            and (own := contest.at(contest.name, dataset))
            and (other := contest.at(name, dataset))
        ]
        if each:
            found[name] = float(np.median(each))
    return found


def _next(contest: Contest) -> list[str]:
    """What to look at, the gravest first; three at most."""
    name, steps = contest.name, []
    owns = [own for dataset in contest.datasets if (own := contest.own(dataset))]
    failed = [each.failed for (label, _), each in contest.standings.items() if label.startswith(name)]
    if any(failed):
        steps.append(f"aucbench check {name} shows on small inputs what goes wrong.")
    if any(own.auc < REVERSED for own in owns):
        steps.append("change the sign of what score returns: higher must mean more likely positive.")
    defaults = [each for dataset in contest.datasets if (each := contest.at(name, dataset))]
    if any(each.diverged_at is not None for each in (*owns, *defaults)):
        steps.append("it diverges: a smaller default step, or one that shrinks with |x|^2, keeps w finite.")
    edges = _edges(contest)
    if edges:
        steps.append(f"the tuning chose the edge of the grid of {', '.join(edges)}: widen it there.")
    gains = [
        own.auc - default.auc
        for dataset in contest.datasets
        if (own := contest.own(dataset)) and (default := contest.at(name, dataset)) and own is not default
    ]
    if gains and float(np.nanmax([*gains, -1.0])) > BETTER:
        steps.append(f"tuning gains up to {np.nanmax(gains):.3f}: other defaults may suit more data.")
    ratios = list(_ratios(contest).values())
    if ratios and contest.access in ("stream", "pairs") and min(ratios) > SLOW:
        steps.append(
            f"an iteration takes over {SLOW:g} times what the others take: a loop of plain Python over the "
            f"rows is far faster when it is compiled by aucbench.kernels.kernel."
        )
    rising = [own.dataset for own in owns if own.diverged_at is None and _rises(own)]
    if rising and not any(own.planned for own in owns):
        more = f"{contest.epochs * 4:g}"
        steps.append(f"it still rises on {', '.join(rising)}: aucbench try {name} --epochs {more}.")
    far = [
        own.dataset
        for own in owns
        if (best := contest.optimum(own)) and best.auc - own.auc > FAR
        and own.dataset not in rising and own.auc >= REVERSED
    ]  # fmt: skip
    if far and not edges:
        steps.append(f"it stays far below the optimum on {', '.join(far)}: does its objective fit the AUC?")
    if not steps:
        steps.append(f"larger data: aucbench -m algo={name},psam,opauc dataset=a9a,ijcnn1 runs=5 tuning=grid")
    return steps[:3]


def _edges(contest: Contest) -> list[str]:
    """Fields whose chosen value lay beyond the middle of an end of the grid, in most of the tunings."""
    chosen = [point for dataset in contest.datasets if (own := contest.own(dataset)) for point in own.chosen]
    found = []
    for field, values in contest.grid.items():
        numbers = sorted(value for value in values if isinstance(value, int | float))
        if len(numbers) < 3 or len(numbers) < len(values):
            continue
        picked = [float(point[field]) for point in chosen if field in point]  # type: ignore[arg-type]
        low = sum(value <= math.sqrt(max(0.0, numbers[0] * numbers[1])) for value in picked)
        high = sum(value >= math.sqrt(max(0.0, numbers[-1] * numbers[-2])) for value in picked)
        if picked and max(low, high) > 0.6 * len(picked):
            found.append(f"{field} ({'low' if low > high else 'high'} end)")
    return found


def _rises(standing: Standing) -> bool:
    samples, auc = standing.curve
    if len(auc) < 4:
        return False
    middle = np.interp(np.log(samples[-1]) - math.log(2.0), np.log(samples), auc)
    return bool(auc[-1] - middle > RISING)


def _ordinal(rank: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(rank, f"{rank}th")


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
