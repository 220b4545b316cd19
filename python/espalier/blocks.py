"""Blocks: a model as typed pieces, wired with ``>>``, over plain Python objects.

A block takes one thing and gives one thing. Data are numbers, strings, lists, dicts and objects with attributes, such
as dataclasses: blocks read them where they are. Types are checked while blocks are wired, and an error names that line.

>>> import espalier as esp
>>> from espalier import blocks as b
>>> model = esp.Model(seed=1)
>>> words = esp.nn.Embedding(model / "words", 3, 4)
>>> cell = esp.nn.BinaryTreeLstm(model / "cell", 4, 8)
>>> tree = b.Forward("tree")
>>> leaf = b.get("word") >> b.lookup(["good", "bad", "not"]) >> b.embedding(words) >> cell.leaf
>>> pair = b.record({"left": tree(), "right": tree()}) >> cell
>>> tree.resolve_to(b.one_of(lambda t: "word" in t, {True: leaf, False: pair}))
>>> h = b.eval(tree() >> b.get(0), {"left": {"word": "not"}, "right": {"word": "good"}}).output
>>> h.shape
(8,)
"""

import dataclasses as _dataclasses
import itertools as _itertools

from espalier import _core
from espalier._core.wiring import *  # noqa: F403


@_dataclasses.dataclass
class Entry:
    """What a metric() or tap() block collected once: the number of the instance, a value, and its label, if any."""

    name: str
    instance: int
    value: object
    label: object


@_dataclasses.dataclass
class Recording:
    """What was recorded of several instances: an output for each, what was collected, and the sum of all losses.

    Tensors are Exprs of the graph, tuples are tuples, sequences are lists. The loss is None where no instance reaches
    a loss() block.
    """

    outputs: list
    metrics: list[Entry]
    taps: list[Entry]
    loss: object

    def metric(self, name):
        """What metric(name) collected, in order."""
        return [entry for entry in self.metrics if entry.name == name]

    def tap(self, name):
        """What tap(name) collected, in order."""
        return [entry for entry in self.taps if entry.name == name]


@_dataclasses.dataclass
class Result:
    """What was computed of one instance: its output, and what it collected, with arrays for tensors."""

    output: object
    metrics: list[Entry]
    taps: list[Entry]


def _leaves(value, into):
    if isinstance(value, _core.Expr):
        into.append(value)
    elif isinstance(value, tuple | list):
        for item in value:
            _leaves(item, into)


def _computed(value):
    if isinstance(value, _core.Expr):
        return value.value()
    return type(value)([_computed(item) for item in value]) if type(value) in (tuple, list) else value


class Program(_core.wiring.Compiled):
    """A compiled block. It records instances on graphs, and computes them.

    watch: names of blocks (Block.named) whose outputs a recording is to show, as tap() does

    >>> import espalier as esp
    >>> from espalier import blocks as b
    >>> squares = b.Program(b.map(b.scalar() >> esp.square) >> b.sum() >> b.loss("squares"))
    >>> with esp.Graph() as g:
    ...     loss = squares.loss([[1, 2], [3]])  # the mean of 5 and 9
    >>> loss.scalar()
    7.0
    """

    def record(self, input, *, graph=None):
        """Records one instance, by default on the current graph; gives its output."""
        return self._record(graph, [input], None, 0)[0][0]

    def record_all(self, inputs, *, graph=None, first_key=None, first_number=0):
        """Begins an instance for each input and records it; gives a Recording.

        first_key: instance i has the key first_key + i, which chooses its masks of dropout
        first_number: of the first instance, for messages
        """
        outputs, metrics, taps, loss = self._record(graph, list(inputs), first_key, first_number)
        return Recording(outputs, [Entry(*e) for e in metrics], [Entry(*e) for e in taps], loss)

    def loss(self, inputs, *, graph=None, first_key=None):
        """The mean over the inputs of what loss() blocks collect, as an Expr."""
        return self._loss(graph, list(inputs), first_key)

    def eval_all(self, inputs, *, first=0, **graph_options):
        """Computes all inputs together; gives a Result for each. Options are those of their Graph."""
        graph = _core.Graph(**{"training": False, **graph_options})
        recording = self.record_all(inputs, graph=graph, first_key=first, first_number=first)
        entries = recording.metrics + recording.taps
        wanted = []
        _leaves(recording.outputs, wanted)
        _leaves([entry.value for entry in entries], wanted)
        if wanted:
            graph.finish(wanted)
        results = [Result(_computed(output), [], []) for output in recording.outputs]
        for kind in ("metrics", "taps"):
            for entry in getattr(recording, kind):
                entry.value, entry.label = _computed(entry.value), _computed(entry.label)
                getattr(results[entry.instance - first], kind).append(entry)
        return results

    def eval(self, input, **graph_options):
        """Computes one input; gives a Result."""
        return self.eval_all([input], **graph_options)[0]


def eval(block, input, **graph_options):
    """Compiles a block and computes it on one input. For many inputs, make a Program once.

    >>> from espalier import blocks as b
    >>> float(b.eval(b.map(b.scalar()) >> b.sum(), [1, 2]).output)
    3.0
    """
    return Program(block).eval(input, **graph_options)


def stream(program, inputs, *, batch=64, **graph_options):
    """The Results of all inputs, in order, a batch at a time; takes no more of the inputs than it computes at once.

    >>> from espalier import blocks as b
    >>> doubled = b.Program(b.scalar() >> (lambda x: 2 * x))
    >>> [float(result.output) for result in b.stream(doubled, range(5), batch=2)]
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    inputs, first = iter(inputs), 0
    while part := list(_itertools.islice(inputs, batch)):
        yield from program.eval_all(part, first=first, **graph_options)
        first += len(part)
