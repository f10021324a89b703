"""Facts that plugins declare about themselves."""

from dataclasses import dataclass

from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.studies.plugin_metadata import citation, links, plugin, toml_beside

TITLES = "titles.toml"


@dataclass(frozen=True)
class MethodInfo:
    """What is known of a plugin, for its section."""

    name: str
    summary: str
    citation: str
    claims: str
    deviations: tuple[str, ...]
    source: str  # address or file of its code
    distribution: str
    links: tuple[tuple[str, str], ...] = ()  # what is linked (paper, page, source), and its address


def title_of(name: str) -> str:
    """The name of a method in papers: that in ``titles.toml`` beside its module, else that of the plugin."""
    cls = plugin("algo", name)
    return str(toml_beside(cls, TITLES).get(name, name)) if cls else name


def method_info(name: str) -> MethodInfo:
    """What an installed plugin says of itself; little of one that is not installed."""
    from aucbench.registry import catalog

    found = catalog().plugins[Family.algorithms].get(name)
    if found is None:
        return MethodInfo(name, "This plugin is not installed here.", "", "", (), "", "")
    claims = MethodFacts(found.cls).claims
    return MethodInfo(
        name=name,
        summary=found.summary,
        citation=citation("algo", name) or "",
        claims=f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        deviations=MethodFacts(found.cls).deviations,
        source=found.source,
        distribution=f"{found.distribution} {found.version}",
        links=links("algo", name),
    )
