"""Running a study: plan, scheduler, work queue, worker, executors. Imported by `api` and `cli`."""
