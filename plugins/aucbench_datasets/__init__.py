"""The built-in data sets."""

from aucbench import hookimpl
from aucbench_datasets import bundled, classical, own, physics, several_classes, synthetic, tabular, text
from aucbench_datasets.gaussian import Gaussian

_BUNDLED = (bundled.BreastCancer, bundled.Digits, bundled.Wine)
_CLASSICAL = (
    classical.Australian,
    classical.Diabetes,
    classical.Fourclass,
    classical.German,
    classical.Leu,
    classical.Madelon,
    classical.Splice,
    classical.Svmguide1,
    classical.Svmguide3,
)
_TABULAR = (
    tabular.A9a,
    tabular.CodRna,
    tabular.Covtype,
    tabular.Ijcnn1,
    tabular.Magic04,
    tabular.Mammography,
    tabular.Mushrooms,
    tabular.Phishing,
    tabular.Phoneme,
    tabular.SkinNonskin,
    tabular.Spambase,
    tabular.W8a,
)
_SEVERAL_CLASSES = (
    several_classes.Acoustic,
    several_classes.Aloi,
    several_classes.Connect4,
    several_classes.Dna,
    several_classes.Letter,
    several_classes.Mnist,
    several_classes.Pendigits,
    several_classes.Satimage,
    several_classes.Shuttle,
    several_classes.Usps,
)
_TEXT = (
    text.Ecml2012,
    text.FarmAds,
    text.News20,
    text.News20Binary,
    text.Rcv1Binary,
    text.Rcv1v2,
    text.RealSim,
    text.Sector,
    text.SectorLvr,
    text.Webspam,
)
_PHYSICS = (physics.Epsilon, physics.Higgs, physics.KddCup04, physics.Susy)
_SYNTHETIC = (Gaussian, synthetic.HardMargin, synthetic.LabelNoise, synthetic.SparseText)
_OWN = (own.Csv, own.Libsvm, own.Npz, own.Openml, own.Parquet)


@hookimpl
def aucbench_datasets() -> tuple[type, ...]:
    """Classes of the built-in data sets."""
    families = _BUNDLED, _CLASSICAL, _TABULAR, _SEVERAL_CLASSES, _TEXT, _PHYSICS, _SYNTHETIC, _OWN
    return tuple(cls for family in families for cls in family)
