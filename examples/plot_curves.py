"""
Four methods in ten lines
=========================

How fast do four methods learn to rank? `aucbench.run` trains a method and measures the test AUC along the
way. Rows, splits and orders are the same for all of them, so that the curves can be compared run by run.
"""

# %%
# The data come with scikit-learn, so nothing is downloaded. Nothing is written either: `aucbench.run` keeps
# its results only when it is given a `store.path`. The hyper-parameters and the number of passes, ten, are
# the defaults; nothing is tuned.

import matplotlib.pyplot as plt
import pandas as pd

import aucbench

METHODS = ("solam", "fsauc", "opauc", "psam")
results = {method: aucbench.run(f"algo={method}", "dataset=digits", "runs=5") for method in METHODS}

# %%
# A result has the mean curve of its runs, and every cell its own record: here the time inside the
# method, without loading, scaling and scoring.

table = pd.DataFrame(
    {
        "test AUC": {method: result.auc for method, result in results.items()},
        "milliseconds": {
            method: 1000 * result.curve["train_seconds"].iloc[-1] for method, result in results.items()
        },
    }
)
print(table.sort_values("test AUC", ascending=False).round(4))

# %%
# The curves, on a logarithmic axis: the first hundred rows are half of the picture.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for method, result in results.items():
    axes.plot(result.curve["samples"], result.curve["auc"], label=method)
axes.set(xscale="log", xlabel="rows seen", ylabel="test AUC", title="digits, mean of five runs")
axes.legend()
plt.show()
