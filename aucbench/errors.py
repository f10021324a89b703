"""Errors caused by user input; each is one sentence: what, where, got, expected, what to do next."""

import errno

# Of the machine; too many files of one process (EMFILE) are the doing of a method.
FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENFILE, errno.ESTALE)


class AucbenchError(Exception):
    """Base of all errors that the command line prints as one sentence, with exit status 2."""


class ParameterError(AucbenchError, ValueError):
    """A hyperparameter or setting is out of range or of the wrong type."""


class DataError(AucbenchError, ValueError):
    """A data file, a label column or an array cannot be used."""


class FetchError(AucbenchError, OSError):
    """A file could not be downloaded, or is not what was promised."""


class CellError(AucbenchError, RuntimeError):
    """A cell has no result: a plugin raised, or a limit of time or memory was met."""


class MachineError(AucbenchError, OSError):
    """The machine, and no method, failed: a full, damaged or read-only disk. Nothing is kept."""


class TrackingError(AucbenchError, OSError):
    """A result could not be logged; the store has it, if there is one."""


class PluginError(AucbenchError, LookupError):
    """A plugin is unknown, broken or in conflict with another one."""


class VersionWarning(UserWarning):
    """The store has results of an earlier version, which this version does not reuse."""
