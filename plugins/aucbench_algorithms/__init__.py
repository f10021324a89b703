"""The built-in methods, one file each."""

from aucbench import hookimpl
from aucbench_algorithms.bam import Bam
from aucbench_algorithms.fsauc import Fsauc
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.mba import Mba
from aucbench_algorithms.opauc import Opauc
from aucbench_algorithms.psam import Psam
from aucbench_algorithms.roc_sgd import RocSgd
from aucbench_algorithms.sklearn_sgd import SgdHinge, SgdLog
from aucbench_algorithms.solam import Solam
from aucbench_algorithms.svm_or import SvmOr
from aucbench_algorithms.uni_exp import UniExp
from aucbench_algorithms.univariate_batch import UniLog, UniSquare


@hookimpl
def aucbench_algorithms() -> tuple[type, ...]:
    """The methods of this package."""
    return (
        Bam,
        Fsauc,
        LsSvm,
        Mba,
        Opauc,
        Psam,
        RocSgd,
        SgdHinge,
        SgdLog,
        Solam,
        SvmOr,
        UniExp,
        UniLog,
        UniSquare,
    )
