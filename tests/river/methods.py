"""All registered methods that a stream can train."""

from aucbench.contracts.validation import Family
from aucbench.registry import catalog
from aucbench.river import AUCClassifier

KNOWN = catalog().plugins[Family.algorithms]
RESUMABLE = [name for name, plugin in KNOWN.items() if getattr(plugin.cls, "resumable", False)]


def classifier(algo, rows=5000, **keywords):
    """A classifier that is told the number of rows where the method must know it."""
    plans = getattr(KNOWN[algo].cls, "plans", False)
    return AUCClassifier(algo, iterations=rows if plans else None, **keywords)
