"""Small files under the names that the pages use for the reader's data."""

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file
from sklearn.externals import _arff


def write(folder):
    """Write my.txt, my.t, my.csv, my.arff, my.parquet and my.npz."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, 1, -1)
    X = rng.normal(size=(200, 5)) + 0.5 * y[:, None]
    dump_svmlight_file(X, y, str(folder / "my.txt"), zero_based=False)
    dump_svmlight_file(X[:60], y[:60], str(folder / "my.t"), zero_based=False)
    np.savez(folder / "my.npz", X=X, y=y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    frame.assign(outcome=np.where(y > 0, "yes", "no")).to_csv(folder / "my.csv", index=False)
    missing = frame.where(rng.random(frame.shape) > 0.05)
    rows = [[*row, str(int(label > 0))] for row, label in zip(frame.to_numpy().tolist(), y, strict=True)]
    attributes = [*((name, "REAL") for name in frame.columns), ("class", ["0", "1"])]
    arff = {"relation": "my", "attributes": attributes, "data": rows}
    (folder / "my.arff").write_text(_arff.dumps(arff))
    missing.assign(id=range(200), y=y).to_parquet(folder / "my.parquet", index=False)
