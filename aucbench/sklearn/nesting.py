"""Parameters of plugins as nested parameters of an estimator: ``algo__radius``."""

from typing import Any, Self

from sklearn.base import BaseEstimator

from aucbench.errors import AucbenchError
from aucbench.sklearn import plugins


class NestedPlugins(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """An estimator with the parameters algo, loss and features, and a mapping ``..._params`` for each."""

    algo: Any
    algo_params: dict[str, Any] | None
    loss: Any
    loss_params: dict[str, Any] | None
    features: Any
    features_params: dict[str, Any] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` those of method, loss and feature map too, under their nested names.

        Parameters
        ----------
        deep : bool, default=True
            Whether nested names are included; those of a plugin that cannot be made are not.

        Returns
        -------
        dict
            Name to value.
        """
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for group, build in (("algo", self._algorithm), ("loss", self._loss), ("features", self._map)):
                try:
                    instance = build()
                except AucbenchError:  # it is refused by `fit`
                    continue
                if instance is not None:
                    found |= plugins.nested(group, instance)
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one, such as ``algo__radius``, is put into a copy of `algo_params`.

        Parameters
        ----------
        **params : object
            Values by name; method, loss and feature map are set before what is nested in them.

        Returns
        -------
        AUCClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            There is no such parameter.
        """
        inner = [key for key in params if "__" in key and key.partition("__")[0] in plugins.FAMILIES]
        super().set_params(**{key: value for key, value in params.items() if key not in inner})
        for key in inner:
            group, _, name = key.partition("__")
            known = plugins.merged(
                group, self._choice(group), getattr(self, f"{group}_params"), name, params[key]
            )
            setattr(self, f"{group}_params", known)
        return self

    def _choice(self, group: str) -> Any:
        """The plugin chosen; for the loss the method's first where none is."""
        choice = getattr(self, group)
        if group != "loss" or choice is not None:
            return choice
        try:
            return plugins.built_loss(self._algorithm(), None, None)
        except AucbenchError:  # it is refused by `fit`
            return None

    def _algorithm(self) -> Any:
        return plugins.built("algo", self.algo, self.algo_params)

    def _loss(self) -> Any:
        return plugins.built_loss(self._algorithm(), self.loss, self.loss_params)

    def _map(self) -> Any:
        return plugins.built("features", self.features, self.features_params)
