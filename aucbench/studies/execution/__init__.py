"""How a study is run: its plan, scheduler, executors and workers, records of its cells, and its cost."""
