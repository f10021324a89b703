"""The catalogue: its declarations agree, and real files match them."""

import csv
import hashlib
from collections import Counter

import numpy as np
import pytest

from aucbench import FetchError, File, ParameterError
from aucbench.data import fetch, load
from aucbench_datasets import aucbench_datasets, catalogue
from aucbench_datasets.scikit_learn import Wine

COLLECTIONS = {}
for cls in catalogue.CLASSES:
    COLLECTIONS.setdefault(cls.collection, []).append(cls)


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """One cache for all real files: the data sets that share files are parsed into it once each."""
    return tmp_path_factory.mktemp("parsed")


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_every_declaration_has_rows_a_source_a_citation_and_facts_that_agree(collection):
    for cls in COLLECTIONS[collection]:
        data = cls()
        assert data.citation, cls.name
        assert data.licence, cls.name
        assert any(file.part == "train" for file in data.files), cls.name
        for file in data.files:
            assert file.rows > 0, cls.name
            assert sum(file.labels.values()) in (0, file.rows), cls.name
            assert all(url.startswith("https://") for url in file.urls), cls.name
            libsvm_site = file.path.startswith(("binary/", "multiclass/", "multilabel/"))
            assert libsvm_site or file.urls or file.by_hand or file.kind == "openml", cls.name


def test_data_sets_of_one_origin_are_one_family_and_others_are_families_of_their_own():
    families = {}
    for cls in aucbench_datasets():
        families.setdefault(getattr(cls, "family", cls.name), set()).add(cls.name)
    assert {"sector", "sector_lvr"} == families["sector"]
    counts = catalogue.sector().files[0].labels
    assert catalogue.sector_lvr.positive == (max(sorted(counts), key=counts.get),)  # the largest class
    assert {"diabetes", "keel_pima", "keel_pima_imb", "adbench_pima"} == families["pima"]
    assert {"satimage", "keel_satimage", "adbench_satellite", "adbench_satimage_2"} < families["satimage"]
    assert {"keel_wisconsin", "adbench_wbc", "adbench_breastw"} < families["breast_wisconsin"]
    assert families["gaussian"] == {"gaussian"}
    assert len([name for name in families["ecoli"] if name.startswith("keel_")]) == 19


@pytest.mark.mirror
@pytest.mark.parametrize("prefix", ["keel_", "adbench_"])
def test_files_of_collections_are_those_declared_and_become_what_a_plain_reader_finds(
    prefix, parsed, monkeypatch
):
    monkeypatch.setenv("AUCBENCH_CACHE", str(parsed))
    classes = [cls for cls in catalogue.CLASSES if cls.name.startswith(prefix)]
    assert len(classes) == {"keel_": 143, "adbench_": 38}[prefix]
    for cls in classes[::8]:
        (file,) = cls.files
        (path,) = fetch(cls())
        assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256, cls.name
        loaded = load(cls())
        assert loaded.X.shape == (file.rows, cls.features), cls.name
        X, labels = plainly_read(path, file)
        np.testing.assert_array_equal(dense(loaded.X), X, cls.name)
        assert Counter(labels) == {str(label): count for label, count in file.labels.items()}, cls.name
        positive = {str(label) for label in loaded.positive}
        assert [label in positive for label in map(as_shown, labels)] == (loaded.y == 1).tolist(), cls.name
        if len(file.labels) > 2:
            assert np.count_nonzero(loaded.y == 1) == min(file.labels.values()), cls.name


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def as_shown(label):
    try:
        return str(float(label))
    except ValueError:
        return label


def plainly_read(path, file):
    """Rows and labels, as texts, by csv and NumPy alone."""
    if file.kind == "npz":
        with np.load(path) as arrays:
            return arrays["X"], [str(int(label)) for label in arrays["y"]]
    rows = [[cell.strip() for cell in row] for row in csv.reader(path.open()) if row]
    *columns, labels = zip(*rows, strict=True)
    categories = {index for index, _ in file.table.types}
    parts = []
    for index, cells in enumerate(columns):
        if index in categories:
            parts += [[float(cell == level) for cell in cells] for level in sorted(set(cells))]
        else:
            values = np.array([np.nan if cell in ("?", "<null>") else float(cell) for cell in cells])
            parts.append(np.where(np.isnan(values), np.nanmedian(values), values))
    return np.column_stack(parts), list(labels)


def test_random_halves_are_half_of_the_classes_and_depend_on_the_seed_alone():
    def positives(**fields):
        y, X = load(Wine(**fields)).y, load(Wine()).X
        assert len(X) == 178
        return np.count_nonzero(y == 1)

    sizes = {59: 0, 71: 1, 48: 2}
    counts = {positives(grouping_seed=seed) for seed in range(12)}
    assert counts == set(sizes)  # floor(3 / 2) = 1 class is positive, and each one by some seed
    assert positives(grouping_seed=3) == positives(grouping_seed=3)
    assert positives(grouping="largest") == 71
    assert positives(grouping="rarest") == 48
    assert positives(grouping="one", positive=2) == 48
    assert positives(positive=[0, 2]) == 107


def test_a_grouping_of_one_class_needs_its_label():
    with pytest.raises(ParameterError, match=r"usps: grouping=one needs the label, dataset\.positive=LABEL"):
        catalogue.usps(grouping="one")
    with pytest.raises(ParameterError, match=r"usps: grouping must be one of halves, rarest, largest, one"):
        catalogue.usps(grouping="thirds")


def test_what_cannot_be_fetched_says_what_to_download_and_where_to_put_it(cache, web):
    with pytest.raises(FetchError) as caught:
        fetch(catalogue.kddcup04())
    text = str(caught.value)
    assert "download phy_train.dat of the archive that https://osmot.cs.cornell.edu" in text
    assert f"put it at {cache / 'raw' / 'by_hand' / 'phy_train.dat'}" in text
    with pytest.raises(FetchError, match=r"ecml2012: its file cannot be fetched automatically"):
        fetch(catalogue.ecml2012())


def test_what_was_put_there_by_hand_is_found(cache, monkeypatch):
    monkeypatch.setattr(
        catalogue.kddcup04, "files", (File(**{**vars(catalogue.kddcup04.files[0]), "rows": 4}),)
    )
    path = cache / "raw" / "by_hand" / "phy_train.dat"
    path.parent.mkdir(parents=True)
    lines = [[i + 1, i % 2, *(100 * i + j for j in range(78))] for i in range(4)]
    path.write_text("\n".join("\t".join(map(str, line)) for line in lines) + "\n")
    loaded = load(catalogue.kddcup04())
    assert loaded.X.shape == (4, 70)
    assert loaded.y.tolist() == [-1, 1, -1, 1]
    missing = {20, 21, 22, 44, 45, 46, 29, 55}  # attributes, numbered from 1
    assert loaded.X[1].tolist() == [100 + j for j in range(78) if j + 1 not in missing]


def test_one_topic_of_many_is_positive_the_most_frequent_one_unless_named(tmp_path, monkeypatch):
    train, test = tmp_path / "train", tmp_path / "test"
    train.write_text("3,7 1:1 4:2\n7 2:1\n 1:5\n3,9,7 3:1\n2:4\n")
    test.write_text("9 1:1\n7,3 2:1\n")

    def files(self):
        topic = "largest" if self.topic is None else float(self.topic)
        return (File(str(train), topic=topic), File(str(test), part="test", topic=topic))

    monkeypatch.setattr(catalogue.rcv1v2, "files", property(files))
    assert load(catalogue.rcv1v2()).y.tolist() == [1, 1, -1, 1, -1]
    assert load(catalogue.rcv1v2(), "test").y.tolist() == [-1, 1]
    assert load(catalogue.rcv1v2(topic=9)).y.tolist() == [-1, -1, -1, 1, -1]
    np.testing.assert_array_equal(load(catalogue.rcv1v2()).X[:, :4].toarray()[4], [0, 4, 0, 0])
    with pytest.raises(ParameterError, match=r"rcv1v2: topic must be the number of a label, got 'CCAT'"):
        catalogue.rcv1v2(topic="CCAT")
