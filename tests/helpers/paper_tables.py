"""The methods and data sets that have a cell in the tables of the papers."""

import re
from pathlib import Path

from aucbench.config.compose import config_folder
from aucbench_algorithms import aucbench_algorithms


def listed(words):
    """Names with blanks between them."""
    return words.split()


TEXT = listed("farm_ads sector news20")
OPAUC_2 = listed(
    "diabetes fourclass german splice usps letter magic04 a9a w8a kddcup04 mnist connect_4 acoustic ijcnn1 "
    "epsilon covtype"
)
OPAUC_4 = listed("sector sector_lvr news20 news20_binary rcv1v2 ecml2012")
SAUC_2 = listed("australian_scale cod_rna dna leu madelon news20 sector skin_nonskin svmguide1")
SPDAM_3 = listed("diabetes fourclass german splice usps a9a mnist acoustic ijcnn1 covtype sector news20")
PSAM_2 = listed(
    "spambase ijcnn1 a9a connect_4 mnist acoustic webspam cod_rna epsilon covtype susy aloi "
    "farm_ads sector news20"
)
PSAM_3 = listed("acoustic aloi cod_rna webspam covtype susy")


def without(datasets, *names):
    """The others of some data sets."""
    return [each for each in datasets if each not in names]


def pairs(table):
    """Method and data set of every cell."""
    return {(algo, dataset) for algo, datasets in table.items() for dataset in datasets}


FSAUC_DENSE = listed("a9a ijcnn1 covtype higgs w8a")
FSAUC_TEXT = listed("real_sim rcv1_binary news20_binary")

# log_reg is the same model as uni_log, and estimator needs the path of a class.
METHODS = sorted({cls.name for cls in aucbench_algorithms()} - {"uni_log", "estimator"})
SUITE = (Path(config_folder()) / "suite" / "imbalanced.yaml").read_text(encoding="utf-8")
IMBALANCED = re.findall(r"[a-z]\w+", SUITE.partition("dataset: >-")[2])
LIBSVM = listed(
    "a9a australian breast_cancer connect_4 covtype diabetes digits dna fourclass german ijcnn1 letter "
    "madelon magic04 skin_nonskin splice svmguide1 usps w8a wine"
)

REFERENCE = pairs({name: {*IMBALANCED, *LIBSVM} for name in METHODS}) - {("cbr", "adbench_smtp")}

# The first word is the experiment; what follows narrows it to the other columns of its table.
CELLS = {
    ("fsauc_table2",): pairs(
        dict.fromkeys(("fsauc", "solam", "solam_l1"), FSAUC_DENSE + FSAUC_TEXT)
        | {"opauc": FSAUC_DENSE, "opauc_r": FSAUC_TEXT}
    ),
    ("opauc_table2",): pairs(
        dict.fromkeys(("opauc", "oam_seq", "oam_gra", "uni_exp"), OPAUC_2)
        | {name: without(OPAUC_2, "epsilon") for name in ("uni_log", "svm_or", "ls_svm")}
    ),
    ("opauc_table4",): pairs(
        dict.fromkeys(("opauc_r", "oam_gra", "uni_exp"), OPAUC_4) | {"oam_seq": without(OPAUC_4, "ecml2012")}
    ),
    ("opauc_table4", "algo=opauc", "features=subset,projection"): pairs({"opauc": OPAUC_4}),
    ("opauc_table4", "algo=opauc", "features=pca", "dataset=sector,sector_lvr,news20,rcv1v2"): pairs(
        {"opauc": without(OPAUC_4, "ecml2012", "news20_binary")}
    ),
    ("sauc_table2",): pairs(
        dict.fromkeys(("sauc", "oam_gra", "solam", "fsauc", "spam"), SAUC_2)
        | {"opauc": without(SAUC_2, "news20", "sector")}
    ),
    ("sauc_table2", "algo=sauc", "loss=logistic"): pairs({"sauc": SAUC_2}),
    ("spdam_table3",): pairs(
        dict.fromkeys(("spdam", "regsolam", "solam", "oam_seq", "oam_gra"), SPDAM_3)
        | {"opauc": without(SPDAM_3, "sector", "news20")}
    ),
    ("psam_table2",): pairs(
        dict.fromkeys(("oam_seq", "oam_gra", "solam", "asam", "psam"), PSAM_2)
        | {name: without(PSAM_2, *TEXT) for name in ("cbr", "bam")}
        | {"cbr_diag": TEXT}
    ),
    ("psam_table3",): pairs(dict.fromkeys(("solam", "asam", "psam", "bam"), PSAM_3)),
    ("try",): pairs(
        dict.fromkeys(listed("solam fsauc psam log_reg ls_svm"), listed("breast_cancer digits sparse_text"))
        | {"svm_or": listed("breast_cancer digits")}
    ),
    ("losses",): pairs(dict.fromkeys(("log_reg", "bam", "boosting", "mlp"), IMBALANCED)),
    ("reference",): REFERENCE,
    ("reference_defaults",): REFERENCE,
    ("smoke",): pairs(
        dict.fromkeys(
            listed("solam oam_gra psam spdam uni_log ls_svm"),
            listed("breast_cancer digits wine gaussian sparse_text"),
        )
    ),
}

WORDS = "opauc_table2 algo=uni_log,svm_or,ls_svm dataset=epsilon max_train_rows=2000 matrix.skip=null"
BATCH_ON_EPSILON = tuple(listed(WORDS))
