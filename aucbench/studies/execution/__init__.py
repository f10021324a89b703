"""How a study is run: its plan, scheduler, executors and workers, the records of its cells, and what it will cost."""
