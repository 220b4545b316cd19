"""Dynamic batching of PyTorch code: write a model for one tree, graph or sentence, and run many of them together."""

from espalier.torch.batches import Batch, batch, constant
from espalier.torch.cells import Cell, CellModule, Lookup, cell, lookup
from espalier.torch.lists import max, mean, sum
from espalier.torch.operations import Value
from espalier.torch.row_mixing import RowsWarning
from espalier.torch.statistics import Statistics
from espalier.torch.unbatched import Unbatched, unbatched
from espalier.torch.waiting import run_batched

__all__ = ["Batch", "Cell", "CellModule", "Lookup", "RowsWarning", "Statistics", "Unbatched", "Value", "batch", "cell",
           "constant", "lookup", "max", "mean", "run_batched", "sum", "unbatched"]
