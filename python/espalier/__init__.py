"""Write a neural network for one tree, graph or sentence. Espalier runs it over many of them at once."""

from espalier._core import (
    CellError,
    DataError,
    Error,
    InternalError,
    ResourceError,
    Schedule,
    UsageError,
    schedule,
    strategies,
)

__version__ = "0.1.0"

__all__ = [
    "CellError",
    "DataError",
    "Error",
    "InternalError",
    "ResourceError",
    "Schedule",
    "UsageError",
    "schedule",
    "strategies",
]
