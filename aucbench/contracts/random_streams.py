"""The random streams of a run. Each purpose has a separate stream, so that draws never shift each other."""

from enum import IntEnum

import numpy as np


class RandomStream(IntEnum):
    """The purposes of random numbers.

    Results depend on the values: never change or reuse a value. `holdout` is 1 because scripts outside the
    package draw the same splits by ``default_rng([seed, 1])``.
    """

    method = 0  # generator passed to `init` of a method
    holdout = 1
    order = 2  # order of the rows in a run
    features = 3  # fitting of a feature map
    class_halves = 4  # which classes are positive under `Grouping.halves`
    settings = 7  # settings proposed by a tuner
    train_valid_test = 11
    kfold = 12
    test_halves = 13  # validation and test halves of a predefined test part
    inner_folds = 14  # splits of the training rows, for tuning
    row_limit = 15  # rows kept by `max_train_rows`
    validation = 16  # training rows held out for a method that declares `validation`


def generator(seed: int, stream: RandomStream, *numbers: int) -> np.random.Generator:
    """The generator of a stream: ``numpy.random.default_rng([seed, stream, *numbers])``, with seed >= 0.

    The numbers distinguish streams of one purpose, such as folds; a trailing 0 has no effect.
    """
    return np.random.default_rng([seed, int(stream), *numbers])
