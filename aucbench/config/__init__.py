"""From overrides to objects: settings, typed twins for Hydra, composing, binding, clear errors."""
