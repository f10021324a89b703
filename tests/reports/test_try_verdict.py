"""The summary of one method: AUC, gain and verdict, and its speed."""

from aucbench.reports.build import build
from aucbench.reports.try_verdict import verdict
from tests.helpers.board_cells import finished
from tests.helpers.small_report import small_report


def reported(aucs, seconds=None, **changes):
    """A report whose methods have these AUCs, one per run; None for a run that diverged."""
    seconds = seconds or {}
    cells = [
        finished(auc, seed=seed, algorithm=name, seconds=seconds.get(name, 1e-3), **changes)
        for name, values in aucs.items()
        for seed, auc in enumerate(values)
    ]
    return build(cells, "a study", one_study=True, reference="psam")


def judged(report, method="mine"):
    return " ".join(verdict(report, method))


def test_gains_and_verdicts_are_those_of_the_frame():
    report = small_report(("psam", "mine", "other"), data_sets=2, runs=5, far=("other",))
    for method in ("mine", "other"):
        gains = report.gains[report.gains["method"] == method].to_dict("records")
        sentences = verdict(report, method)
        for row, sentence in zip(gains, sentences, strict=False):
            assert sentence.startswith(f"{row['data_set']}: test AUC ")
            gain = f"{row['gain']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f}) against psam"
            assert f"{gain}: {row['verdict']}" in sentence
            means = report.results[report.results["data_set"] == row["data_set"]].set_index("method")["mean"]
            assert (f"the best, {means.idxmax()}, has {means.max():.4f}" in sentence) == (
                means.idxmax() != method
            )


def test_noise_is_not_called_reversed_and_of_a_single_run_there_is_a_speed_and_no_verdict():
    for count in (25, 400):
        report = reported({"mine": [0.4], "psam": [0.9]}, data={"test_rows": 800, "test_positives": count})
        assert ("look reversed" in judged(report)) == (count == 400)
        assert ("Not above chance" in judged(report)) == (count == 25)
    single = reported({"mine": [0.8], "psam": [0.7]}, {"mine": 50.0, "psam": 1.0})
    assert verdict(single, "mine")[0] == "data: test AUC 0.8000 (one run)."
    assert "50 times psam's" in judged(single)
    lost = reported({"mine": [0.8, None], "psam": [0.7, 0.7]}, advice="take smaller steps")
    assert "so the method is not compared. Advice: take smaller steps." in judged(lost)
