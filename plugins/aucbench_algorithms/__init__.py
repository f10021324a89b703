"""The built-in methods, one file each."""

# ruff: noqa: F401 - the hook returns what is imported
from aucbench import hookimpl
from aucbench_algorithms.adaoam import AdaOam
from aucbench_algorithms.aum import Aum
from aucbench_algorithms.auto import Auto
from aucbench_algorithms.bam import Bam
from aucbench_algorithms.boosting import Boosting
from aucbench_algorithms.cbr import Cbr, CbrDiag
from aucbench_algorithms.estimator import ImportedEstimator, SklearnClassifier
from aucbench_algorithms.fifo_ogd import Aogd, FifoOgd
from aucbench_algorithms.fsauc import Fsauc
from aucbench_algorithms.ftrl import FtrlAuc, FtrlLog
from aucbench_algorithms.log_reg import LogReg
from aucbench_algorithms.log_reg_cv import LogRegCV
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.mba import Mba
from aucbench_algorithms.mlp import Mlp
from aucbench_algorithms.oam import OamGra, OamSeq
from aucbench_algorithms.opauc import Opauc
from aucbench_algorithms.opauc_r import OpaucR
from aucbench_algorithms.pair_batch import PairBatch
from aucbench_algorithms.pesg import Pesg
from aucbench_algorithms.psam import Asam, Psam
from aucbench_algorithms.roc_sgd import RocSgd
from aucbench_algorithms.sauc import Sauc
from aucbench_algorithms.sht_auc import ShtAuc
from aucbench_algorithms.sklearn_sgd import SgdHinge, SgdLog
from aucbench_algorithms.solam import RegSolam, Solam, SolamL1
from aucbench_algorithms.sopa import Soap, Sopa, SopaS
from aucbench_algorithms.spam import Spam
from aucbench_algorithms.spauc import Spauc
from aucbench_algorithms.spdam import Spdam
from aucbench_algorithms.svm_or import SvmOr
from aucbench_algorithms.toppush import TauFpl, TopPush
from aucbench_algorithms.uni_exp import UniExp
from aucbench_algorithms.univariate_batch import UniLog, UniSquare


@hookimpl
def aucbench_algorithms() -> tuple[type, ...]:
    """The methods of this package: all classes that are imported above."""
    return tuple(value for value in globals().values() if isinstance(value, type))
