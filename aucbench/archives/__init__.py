"""Results as one file: exported from a store, read as data with every check, merged, replicated.

Imports studies and below; boards, the scheduler's check of replications and the commands import it.
"""
