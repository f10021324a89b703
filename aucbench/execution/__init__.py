"""Running a study: plan, scheduler, workers. Imported by `api`."""
