"""Studies: many entries planned, run in this process or on a cluster, kept as they finish, resumed."""
