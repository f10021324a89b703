"""Statistics of cells: pure functions over data frames, each with its formula, assumptions and source."""

from aucbench.boards.statistics.anytime import Range, anytime_auc, area, common_ranges
from aucbench.boards.statistics.bootstrap import RankIntervals, rank_intervals
from aucbench.boards.statistics.cells import (
    COSTS,
    Block,
    RefusedError,
    blocks,
    dataset_means,
    level_of,
    missing_cells,
)
from aucbench.boards.statistics.curves import Curve, Curves, read_curve
from aucbench.boards.statistics.friedman import Friedman, Nemenyi, critical_difference, friedman, nemenyi
from aucbench.boards.statistics.groups import (
    groups_by_rank,
    groups_by_wilcoxon,
    groups_of_runs,
    maximal_groups,
)
from aucbench.boards.statistics.holm import holm
from aucbench.boards.statistics.pairs import compare_runs
from aucbench.boards.statistics.pareto import pareto_front
from aucbench.boards.statistics.profiles import measure_table, performance_profile
from aucbench.boards.statistics.published import (
    Agreement,
    Verdict,
    judge,
    judge_table,
    kendall,
    order_agreement,
)
from aucbench.boards.statistics.ranks import Ranking, average_ranks, rank_rows
from aucbench.boards.statistics.reaching import (
    costs_to_reach,
    first_crossing,
    summarise_reaching,
    target_aucs,
)
from aucbench.boards.statistics.rectangles import Rectangle, complete_rectangle
from aucbench.boards.statistics.student import TStatistics, t_statistics
from aucbench.boards.statistics.summaries import gains_over_datasets, summarise
from aucbench.boards.statistics.wilcoxon import SignedRanks, compare_datasets, signed_ranks

__all__ = [
    "COSTS",
    "Agreement",
    "Block",
    "Curve",
    "Curves",
    "Friedman",
    "Nemenyi",
    "Range",
    "RankIntervals",
    "Ranking",
    "Rectangle",
    "RefusedError",
    "SignedRanks",
    "TStatistics",
    "Verdict",
    "anytime_auc",
    "area",
    "average_ranks",
    "blocks",
    "common_ranges",
    "compare_datasets",
    "compare_runs",
    "complete_rectangle",
    "costs_to_reach",
    "critical_difference",
    "dataset_means",
    "first_crossing",
    "friedman",
    "gains_over_datasets",
    "groups_by_rank",
    "groups_by_wilcoxon",
    "groups_of_runs",
    "holm",
    "judge",
    "judge_table",
    "kendall",
    "level_of",
    "maximal_groups",
    "measure_table",
    "missing_cells",
    "nemenyi",
    "order_agreement",
    "pareto_front",
    "performance_profile",
    "rank_intervals",
    "rank_rows",
    "read_curve",
    "signed_ranks",
    "summarise",
    "summarise_reaching",
    "t_statistics",
    "target_aucs",
]
