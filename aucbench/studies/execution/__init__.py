"""How a study is run: plan, scheduler, executors and workers, records of cells, and expected cost."""
