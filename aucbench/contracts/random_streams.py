"""The random streams of a run. No two purposes share one, so that a draw for one never shifts another."""

from enum import IntEnum

import numpy as np


class RandomStream(IntEnum):
    """What random numbers are drawn for.

    Results depend on the values: never change one, and never use one again. `holdout` is 1 because
    scripts outside of the package draw the same splits by ``default_rng([seed, 1])``.
    """

    method = 0  # the generator that `init` of a method receives
    holdout = 1
    order = 2  # the rows that a run visits
    features = 3  # fitting of a feature map
    class_halves = 4  # which classes are positive under `Grouping.halves`
    threshold_sample = 6  # rows that AUCClassifier keeps to set its threshold
    settings = 7  # settings proposed by a tuner
    train_valid_test = 11
    kfold = 12
    test_halves = 13  # validation and test halves of a predefined test part
    inner_folds = 14  # splits of the training rows, for tuning
    row_limit = 15  # the rows that `max_train_rows` leaves


def generator(seed: int, stream: RandomStream, *numbers: int) -> np.random.Generator:
    """The generator of a stream: ``numpy.random.default_rng([seed, stream, *numbers])``, with seed >= 0.

    The numbers tell several streams for one purpose apart, such as those of folds; a 0 is the same as none.
    """
    return np.random.default_rng([seed, int(stream), *numbers])
