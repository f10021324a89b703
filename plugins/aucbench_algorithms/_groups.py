"""Settings of a grid trained together in groups that agree on a number, such as the size of the buffers."""

from collections.abc import Callable, Sequence
from typing import Any

from aucbench import Batch


class Groups:
    """`Lockstep` of settings in groups with the same value of a field, each trained by its own `Lockstep`."""

    def __init__(
        self,
        algorithms: Sequence[Any],
        states: Sequence[Any],
        field: str,
        together: Callable[[list[Any], list[Any]], Any],
    ):
        members: dict[Any, list[int]] = {}
        for number, algorithm in enumerate(algorithms):
            members.setdefault(getattr(algorithm, field), []).append(number)
        self._groups = [
            together([algorithms[k] for k in numbers], [states[k] for k in numbers])
            for numbers in members.values()
        ]
        self._positions = {
            number: (group, index)
            for group, numbers in zip(self._groups, members.values(), strict=True)
            for index, number in enumerate(numbers)
        }

    def step(self, batch: Batch) -> None:
        for group in self._groups:
            group.step(batch)

    def state(self, number: int) -> Any:
        group, index = self._positions[number]
        return group.state(index)

    def drop(self, number: int) -> None:
        group, index = self._positions[number]
        group.drop(index)
