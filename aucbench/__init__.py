"""aucbench: which stochastic method for maximising the AUC is best, on which data, at what cost.

Public names are imported when first used, so that `import aucbench` is cheap; `__init__.pyi` lists them.
"""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("aucbench")
    import lazy_loader

    public_name, _, names = lazy_loader.attach_stub(__name__, __file__)
    return names if name == "__all__" else public_name(name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
