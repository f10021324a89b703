"""Running a study: plan, scheduler, executors and workers, records of cells, and expected cost."""
