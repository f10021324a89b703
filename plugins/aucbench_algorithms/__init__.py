"""The built-in methods, one file each."""

from aucbench import hookimpl
from aucbench_algorithms.adaoam import AdaOam
from aucbench_algorithms.bam import Bam
from aucbench_algorithms.cbr import Cbr, CbrDiag
from aucbench_algorithms.fsauc import Fsauc
from aucbench_algorithms.log_reg import LogReg
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.mba import Mba
from aucbench_algorithms.oam import OamGra, OamSeq
from aucbench_algorithms.opauc import Opauc
from aucbench_algorithms.opauc_r import OpaucR
from aucbench_algorithms.psam import Asam, Psam
from aucbench_algorithms.roc_sgd import RocSgd
from aucbench_algorithms.sauc import Sauc
from aucbench_algorithms.sklearn_sgd import SgdHinge, SgdLog
from aucbench_algorithms.solam import RegSolam, Solam, SolamL1
from aucbench_algorithms.spam import Spam
from aucbench_algorithms.spdam import Spdam
from aucbench_algorithms.svm_or import SvmOr
from aucbench_algorithms.uni_exp import UniExp
from aucbench_algorithms.univariate_batch import UniLog, UniSquare


@hookimpl
def aucbench_algorithms() -> tuple[type, ...]:
    """The methods of this package."""
    return (
        AdaOam,
        Asam,
        Bam,
        Cbr,
        CbrDiag,
        Fsauc,
        LogReg,
        LsSvm,
        Mba,
        OamGra,
        OamSeq,
        Opauc,
        OpaucR,
        Psam,
        RegSolam,
        RocSgd,
        Sauc,
        SgdHinge,
        SgdLog,
        Solam,
        SolamL1,
        Spam,
        Spdam,
        SvmOr,
        UniExp,
        UniLog,
        UniSquare,
    )
