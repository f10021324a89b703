"""Reports of any size from random numbers, for tests of the views."""

import numpy as np

from aucbench.boards.looks import DASHES, MARKERS
from aucbench.boards.report import Board, Curve, Interval, Look, MethodInfo, Overall, Report, Row


def report(methods=5, boards=3, runs=5, seed=0, checkpoints=30, gaps=True):
    rng = np.random.default_rng(seed)
    names = [f"method{k}" for k in range(methods)]
    quality = dict(zip(names, rng.normal(0.0, 0.03, methods), strict=True))
    made = tuple(_board(k + 1, names, quality, runs, checkpoints, rng, gaps) for k in range(boards))
    return Report(
        title="a study",
        version="0.1.0",
        machines="a processor",
        made="2026-01-01 12:00",
        done=methods * boards * runs,
        failed=1,
        missing=2,
        boards=made,
        overall=(_overall(names, made, rng),),
        methods={name: _info(name) for name in names},
        looks={
            name: Look(f"#{int(rng.integers(0, 1 << 24)):06x}", MARKERS[k % 6], DASHES[k % 5])
            for k, name in enumerate(names)
        },
        notes=("Intervals are 95 % t intervals of the mean over the runs.",),
    )


def _board(number, names, quality, runs, checkpoints, rng, gaps):
    rows = [_row(name, quality[name], runs, checkpoints, rng) for name in names]
    rows.sort(key=lambda row: -row.auc.value)
    rows = [_with(row, rank=float(k)) for k, row in enumerate(rows, 1)]
    if gaps and number == 1:
        rows[-1] = _with(rows[-1], rank=float("nan"), failed=1, runs=runs - 1)
    pairwise = {(a.method, b.method): float(rng.random()) for a in rows for b in rows if a is not b}
    trials = {
        names[0]: [
            {"parameters": {"eta": 2.0**k, "radius": 10.0**j}, "auc": float(rng.uniform(0.6, 0.9))}
            for k in range(-5, 5)
            for j in range(3)
        ]
    }
    facts = {"rows": 1000, "features": 20, "positives": 0.1, "licence": "CC0", "citation": "A. Author 2020"}
    return Board(
        number, f"data{number}", "scaling maxabs; tuned", facts, True, 0.85,
        "99 % of the way from 0.5 to the best mean", tuple(rows), pairwise, trials,
    )  # fmt: skip


def _row(name, quality, runs, checkpoints, rng):
    aucs = 0.85 + quality + rng.normal(0.0, 0.005, runs)
    samples = np.geomspace(1, 1e5, checkpoints)
    auc = 0.5 + (aucs.mean() - 0.5) * (1.0 - np.exp(-samples / 1e3))
    curve = Curve(samples, samples * rng.uniform(1e-7, 1e-5), auc, auc - 0.01, auc + 0.01)
    mean, std = float(aucs.mean()), float(aucs.std(ddof=1)) if runs > 1 else float("nan")
    return Row(
        method=name, algorithm=name, rank=1.0, auc=Interval(mean, mean - std, mean + std), std=std, runs=runs,
        diverged=0, failed=0, missing=0, groups="a", wins=1, ties=2, losses=1,
        train_seconds=float(curve.seconds[-1]), ns_per_iteration=float(rng.uniform(50, 5000)),
        state_bytes=4096.0, tuning_seconds=3.0, tuning_passes=147.0, timing_mark="",
        target_seconds=0.01, target_samples=2e4, target_share=1.0, anytime_samples=0.8, anytime_seconds=0.8,
        parameters="eta=0.1 radius=1", command=f"aucbench algo={name}", curve=curve,
        aucs=tuple(float(auc) for auc in aucs),
    )  # fmt: skip


def _overall(names, boards, rng):
    ranks = {name: Interval(k + 1.0, k + 0.5, k + 1.5) for k, name in enumerate(names)}
    zero = dict.fromkeys(names, 0)
    ratios = np.linspace(1.0, 3.0, 20)
    return Overall(
        tuned=True, methods=tuple(names), boards=len(boards),
        ranks=ranks, ranks_with_gaps=ranks, incomplete={},
        groups=dict.fromkeys(names, "a"), wins=zero, ties=zero, losses=zero,
        pairwise={(a, b): float(rng.random()) for a in names for b in names if a != b},
        friedman={"statistic": 12.3, "p": 0.01, "critical_difference": 1.9} if len(boards) >= 10 else None,
        friedman_text="Friedman's test needs ten data sets." if len(boards) < 10 else "p = 0.01",
        profile={name: (ratios, np.sort(rng.random(20))) for name in names}, pareto=tuple(names[:2]),
    )  # fmt: skip


def _info(name):
    return MethodInfo(
        name, f"What {name} does.", "A. Author: A paper. 2020", "1/sqrt(t), d", (), "a/file.py", "mine"
    )


def _with(row, **changes):
    from dataclasses import replace

    return replace(row, **changes)
