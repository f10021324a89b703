"""Statistics of cells: pure functions, each with formula and source. Imported by `leaderboard` alone."""

from aucbench.leaderboard.statistics.agreement import Verdict, judge_table, order_agreement
from aucbench.leaderboard.statistics.anytime_auc import anytime_auc
from aucbench.leaderboard.statistics.friedman import friedman, nemenyi
from aucbench.leaderboard.statistics.inputs import Curves, RefusedError, dataset_means, level_of
from aucbench.leaderboard.statistics.multiple_comparisons import (
    groups_by_rank,
    groups_by_wilcoxon,
    groups_of_runs,
)
from aucbench.leaderboard.statistics.paired_t_test import compare_runs
from aucbench.leaderboard.statistics.pareto import pareto_front
from aucbench.leaderboard.statistics.performance_profile import auc_gaps, performance_profile
from aucbench.leaderboard.statistics.ranks import average_ranks, complete_rectangle, rank_rows
from aucbench.leaderboard.statistics.summary import gains_over_datasets, summarise
from aucbench.leaderboard.statistics.time_to_target import costs_to_reach, summarise_reaching, target_aucs
from aucbench.leaderboard.statistics.wilcoxon import compare_datasets

__all__ = [
    "Curves",
    "RefusedError",
    "Verdict",
    "anytime_auc",
    "auc_gaps",
    "average_ranks",
    "compare_datasets",
    "compare_runs",
    "complete_rectangle",
    "costs_to_reach",
    "dataset_means",
    "friedman",
    "gains_over_datasets",
    "groups_by_rank",
    "groups_by_wilcoxon",
    "groups_of_runs",
    "judge_table",
    "level_of",
    "nemenyi",
    "order_agreement",
    "pareto_front",
    "performance_profile",
    "rank_rows",
    "summarise",
    "summarise_reaching",
    "target_aucs",
]
