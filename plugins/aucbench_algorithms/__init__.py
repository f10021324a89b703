"""The built-in methods, one file each."""

from aucbench import hookimpl
from aucbench_algorithms.fsauc import Fsauc
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.opauc import Opauc
from aucbench_algorithms.psam import Psam
from aucbench_algorithms.roc_sgd import RocSgd
from aucbench_algorithms.solam import Solam
from aucbench_algorithms.uni_exp import UniExp


@hookimpl
def aucbench_algorithms() -> tuple[type, ...]:
    """The methods of this package."""
    return (Fsauc, LsSvm, Opauc, Psam, RocSgd, Solam, UniExp)
