"""Losses as addresses."""

from dataclasses import dataclass

import numpy as np

from aucbench import kernels
from aucbench_losses import Hinge, Square
from tests.helpers.losses import Softplus


@kernels.kernel
def _at(address, margins, theta, out):
    for k in range(margins.size):
        out[k] = kernels.call(address, margins[k], theta)


def at(address, margins, theta):
    out = np.empty(len(margins))
    _at(address, np.asarray(margins, float), theta, out)
    return out


def test_all_losses_share_one_compiled_kernel():  # `check` compares its values with the plain functions
    for loss in (Hinge(), Square(), Softplus()):
        at(kernels.compile_loss(loss).value, [0.5], 1.0)
    assert len(_at.signatures) == 1


def test_theta_is_the_single_field_and_prox_is_optional():
    assert kernels.theta(Hinge(margin=0.5)) == 0.5
    assert kernels.theta(Square()) == 0.0
    assert kernels.compile_loss(Softplus()).prox == 0
    assert kernels.compile_loss(Hinge()).prox != 0


def test_a_loss_typed_in_at_a_prompt_works_without_a_file():
    namespace = {"dataclass": dataclass}
    source = (
        "@dataclass(frozen=True)\nclass Typed:\n"
        "    @staticmethod\n    def value(m, theta):\n        return m * m\n"
        "    @staticmethod\n    def derivative(m, theta):\n        return 2.0 * m\n"
    )
    exec(source, namespace)
    compiled = kernels.compile_loss(namespace["Typed"]())
    assert at(compiled.value, [3.0], 0.0)[0] == 9.0
