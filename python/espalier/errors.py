"""The exceptions of espalier."""


class Error(Exception):
    """What every exception of espalier is."""


class UsageError(Error, ValueError):
    """The caller can fix it: a shape that does not fit, a node of a cleared graph, an unknown name."""


class CellError(UsageError):
    """The function of a cell does what only a plain function may."""


class DataError(Error, ValueError):
    """Data are not what was promised: the text names the file and line."""


class ResourceError(Error, RuntimeError):
    """Memory, files, disks."""


class InternalError(Error, RuntimeError):
    """A bug of espalier's own; no input reaches it."""


for _error in (Error, UsageError, CellError, DataError, ResourceError, InternalError):
    _error.__module__ = "espalier"
del _error
