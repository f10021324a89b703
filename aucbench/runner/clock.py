"""The training clock: wall and thread-CPU nanoseconds spent in init, step and finalize, and nowhere else."""

from time import perf_counter_ns, thread_time_ns


class Clock:
    """A stopwatch; ``with clock:`` runs it."""

    __slots__ = ("_cpu_start", "_wall_start", "cpu_ns", "wall_ns")

    def __init__(self, wall_ns: int = 0, cpu_ns: int = 0) -> None:
        self.wall_ns = wall_ns
        self.cpu_ns = cpu_ns

    def __enter__(self) -> "Clock":
        self._cpu_start = thread_time_ns()
        self._wall_start = perf_counter_ns()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall_ns += perf_counter_ns() - self._wall_start
        self.cpu_ns += thread_time_ns() - self._cpu_start

    @property
    def seconds(self) -> float:
        """Wall seconds so far."""
        return self.wall_ns * 1e-9

    @property
    def cpu_seconds(self) -> float:
        """Thread-CPU seconds so far."""
        return self.cpu_ns * 1e-9

    def copy(self) -> "Clock":
        """A stopped clock that shows the same."""
        return Clock(self.wall_ns, self.cpu_ns)
