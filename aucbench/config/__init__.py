"""From overrides to a study of objects. The only folder that imports Hydra; imported by `api` and `cli`."""
