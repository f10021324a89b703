"""Settings, entries, records, the store and the execution of studies; imported by all higher packages."""
