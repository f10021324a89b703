"""A page for each method, from its docstrings and declarations."""

import inspect
import sys
from dataclasses import MISSING, fields
from typing import Any

import claims_page
from docstrings import parameters
from markdown import code, escaped, prose, table
from results import has_curve

import aucbench
from aucbench.contracts import MethodFacts, class_of_model
from aucbench.contracts.validation import Family
from aucbench.registry import Plugin
from aucbench.studies.plugin_metadata import bibliography, link, sentence

ACCESS = {
    "stream": "one example an iteration",
    "pairs": "a random positive and a random negative an iteration",
    "minibatch": "a minibatch of rows an iteration",
    "balanced": "a batch of as many positives as negatives an iteration",
    "full": "all rows in every iteration",
}
CURVE = (
    "*Test AUC on `digits` against the rows seen: mean and standard deviation of three runs with the default "
    "parameters, which nobody tuned; all other methods in grey. Drawn when this page was built.*"
)


def pages() -> dict[str, str]:
    """Texts by file name below ``generated``."""
    plugins = aucbench.catalog().plugins[Family.algorithms]
    links = {name: f"{name}.md" for name in plugins}
    texts = {f"methods/{name}.md": _page(plugin, links) for name, plugin in plugins.items()}
    texts |= {f"{source_page(plugin.source)}.md": _source(plugin.source) for plugin in plugins.values()}
    return texts | {"methods/index.md": _index(list(plugins.values()))}


def source_page(module: str) -> str:
    """The page with the source of a module: its path below ``generated``, without file extension."""
    return f"sources/{module}"


def _source(module: str) -> str:
    text = inspect.getsource(sys.modules[module])
    return f"---\norphan: true\nnosearch: true\n---\n\n# {escaped(module)}\n\n`````python\n{text}`````\n"


def _index(plugins: list[Plugin]) -> str:
    rows = []
    for plugin in plugins:
        claims = MethodFacts(plugin.cls).claims
        rows.append(
            (
                f"[`{plugin.name}`]({plugin.name}.md)",
                escaped(plugin.summary),
                str(_of(plugin.cls, "access")),
                escaped(claims.cost) if claims else "",
                escaped(claims.rate) if claims else "",
            )
        )
    toc = "\n".join(plugin.name for plugin in plugins)
    return (
        f"# Methods\n\n{len(plugins)} methods are installed. Cost is that of one iteration; cost and rate "
        "are what is claimed for the method.\n\n"
        + table(("method", "what it does", "access", "cost", "rate"), rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"
    )


def _page(plugin: Plugin, links: dict[str, str]) -> str:
    cls, name = plugin.cls, plugin.name
    method_links = {method: target for method, target in links.items() if method != name}
    docstring = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    parts = [
        f"# {escaped(name)}",
        escaped(plugin.summary),
        f"```text\npython -m aucbench algo={name}\n```",
        _facts(cls),
        f"![AUC of {name} on digits]({name}.svg)\n\n{CURVE}" if has_curve(name) else "",
        "## How it works\n\n" + prose(docstring, method_links),
        _parameters(cls),
        _list("Where it differs from its source", MethodFacts(cls).deviations),
        _grid(cls),
        _citation(cls),
        f"Code: [`{plugin.source}`](../{source_page(plugin.source)}.md), "
        f"of {plugin.distribution} {plugin.version}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(cls: type) -> str:
    access = str(_of(cls, "access"))
    facts = MethodFacts(cls)
    claims, losses = facts.claims, facts.losses
    any_loss = "*" in losses
    rows = [("access", f"`{access}`: {ACCESS[access]}")]
    if claims:
        rows += [("cost of an iteration", escaped(claims.cost)), ("claimed rate", escaped(claims.rate))]
    rows += claims_page.facts(str(cls.name))  # type: ignore[attr-defined]
    if losses:
        names = ", ".join(code(loss) for loss in losses if loss != "*")
        rows.append(("loss", f"{names}, or any other" if names and any_loss else names or "any"))
    rows.append(("class of model", str(class_of_model(cls()))))
    if facts.objective:
        rows.append(("objective", "declared: `aucbench optimum` finds its minimum"))
    if facts.weighted:
        rows.append(("weights of rows", "taken: `sample_weight` of `AUCClassifier.fit`"))
    if facts.plans:
        rows.append(("budget", "must know the number of iterations beforehand"))
    rows += [(f"needs {package}", escaped(reason)) for package, reason in facts.requires.items()]
    return table(("", ""), rows)


def _parameters(cls: type) -> str:
    descriptions = parameters(cls)
    rows = []
    for field in fields(cls):  # type: ignore[arg-type]
        kind, text = descriptions.get(field.name, ("", ""))
        default = "" if field.default is MISSING else code(getattr(field.default, "value", field.default))
        rows.append((code(f"algo.{field.name}"), escaped(kind), default, escaped(text)))
    return "## Parameters\n\n" + table(("field", "value", "default", "meaning"), rows) if rows else ""


def _grid(cls: type) -> str:
    grid = MethodFacts(cls).grid
    if not grid:
        return ""
    rows = [(code(name), ", ".join(_number(value) for value in values)) for name, values in grid.items()]
    return "## Tuning grid\n\nWhat `tuning=grid` tries.\n\n" + table(("field", "values"), rows)


def _citation(cls: type) -> str:
    key = MethodFacts(cls).citation
    entry = bibliography(cls).get(key, "") if key else ""
    if not entry:
        return f"## Citation\n\n`{key}`" if key else ""
    url = f" <{link(entry)}>" if link(entry) else ""
    return f"## Citation\n\n{escaped(sentence(entry))}{url}\n\n```bibtex\n{entry}\n```"


def _list(title: str, texts: Any) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {escaped(text)}" for text in texts) if texts else ""


def _of(cls: type, name: str) -> Any:
    value = getattr(cls, name)
    return getattr(value, "value", value)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else escaped(str(getattr(value, "value", value)))
