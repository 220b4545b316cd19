"""Random programs over small values, written once and run in two ways: recorded, and by plain PyTorch one by one."""

import random

import espalier.torch as et
import torch

WIDE, NARROW, WORDS = 4, 3, 6


class Net(torch.nn.Module):
    """The parameters and the functions over rows that programs use."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(WORDS, WIDE)
        self.linear = torch.nn.Linear(WIDE, WIDE)
        self.left = torch.nn.Linear(2 * WIDE, WIDE + NARROW)
        self.mixed = torch.nn.Parameter(torch.randn(NARROW, WIDE))
        self.start = torch.nn.Parameter(torch.randn(WIDE))

    def affine(self, x):
        return torch.tanh(self.linear(x))

    def node(self, x, y):
        h, c = self.left(torch.cat([x, y], 1)).split([WIDE, NARROW], 1)
        return torch.tanh(h), {"c": torch.sigmoid(c)}

    def widen(self, c, x):
        return (c @ self.mixed) * x

    def scaled(self, x, factor, *, shift):
        return x * factor + shift

    def score(self, x, label):
        return torch.nn.functional.cross_entropy(x, label, reduction="none")

    def dot(self, x, y):
        return (x * y).sum(1)


NAMES = ("affine", "node", "widen", "scaled", "score", "dot")


class Recorded:
    """Calls are cells'."""

    def __init__(self, net, context):
        self.batch = context
        self.cells = {name: et.cell(getattr(net, name)) for name in NAMES}
        self.table = et.lookup(net.table)

    def call(self, name, *args, **kwargs):
        return self.cells[name](*args, **kwargs)

    def word(self, row):
        return self.table(row)

    def constant(self, constant):
        return et.constant(constant)

    def sum(self, values):
        return et.sum(values)

    def mean(self, values):
        return et.mean(values)

    def max(self, values):
        return et.max(values)

    def now(self, value):
        return self.batch.run(value)


class Plain:
    """PyTorch alone: functions over rows are called with one row."""

    def __init__(self, net):
        self.net = net

    def call(self, name, *args, **kwargs):
        rows = [arg.unsqueeze(0) if isinstance(arg, torch.Tensor) else arg for arg in args]
        answer = getattr(self.net, name)(*rows, **kwargs)
        if isinstance(answer, tuple):
            return answer[0].squeeze(0), {"c": answer[1]["c"].squeeze(0)}
        return answer.squeeze(0)

    def word(self, row):
        return self.net.table(torch.tensor(row))

    def constant(self, constant):
        return torch.as_tensor(constant)

    def sum(self, values):
        return torch.stack(values).sum(0)

    def mean(self, values):
        return torch.stack(values).mean(0)

    def max(self, values):
        return torch.stack(values).amax(0)

    def now(self, value):
        return value


def wide_program(way, net, inputs, seed):
    """Many calls of few cells, which read each other's results from anywhere, and some numbers midway."""
    rng = random.Random(seed)
    values = [way.call("affine", rng.choice(inputs)) for _ in range(60)]
    for i in range(200):
        if i % 80 == 79:
            way.now(values[-1])
        if rng.random() < 0.2:
            values.append(way.mean([rng.choice(values) for _ in range(rng.randint(1, 5))]))
        else:
            h, c = way.call("node", rng.choice(values), rng.choice(values[-20:]))
            values.append(h if rng.random() < 0.8 else way.call("widen", c["c"], rng.choice(values)))
    ends = [way.call("dot", rng.choice(values), rng.choice(values)) for _ in range(20)]
    return way.sum(ends), values[-1]


class Program:
    """One random program. The same seed makes the same choices, whatever runs it."""

    def __init__(self, seed, way, net, inputs):
        self.random = random.Random(seed)
        self.way, self.net, self.inputs = way, net, inputs
        self.wide, self.narrow, self.numbers = [], [], []

    def pick(self, values):
        # Often a recent one, so that programs are deep, too.
        return values[-1] if self.random.random() < 0.4 else self.random.choice(values)

    def some(self, values):
        return [self.pick(values) for _ in range(self.random.randint(1, 4))]

    def leaf(self):
        kind = self.random.randrange(4)
        if kind == 0:
            self.wide.append(self.way.word(self.random.randrange(WORDS)))
        elif kind == 1:
            self.wide.append(self.way.call("affine", self.random.choice(self.inputs)))
        elif kind == 2:
            self.wide.append(self.way.call("affine", self.net.start))
        else:
            numbers = [self.random.uniform(-1, 1) for _ in range(WIDE)]
            self.wide.append(self.way.constant(torch.tensor(numbers)))

    def calls_of_cells(self):
        kind = self.random.randrange(6)
        if kind == 0:
            self.wide.append(self.way.call("affine", self.pick(self.wide)))
        elif kind == 1:
            h, c = self.way.call("node", self.pick(self.wide), self.pick(self.wide))
            self.wide.append(h)
            self.narrow.append(c["c"])
        elif kind == 2 and self.narrow:
            self.wide.append(self.way.call("widen", self.pick(self.narrow), self.pick(self.wide)))
        elif kind == 3:
            shift = self.random.choice([0, 0.5])
            self.wide.append(self.way.call("scaled", self.pick(self.wide), self.random.choice([0.5, 2]), shift=shift))
        elif kind == 4:
            label = self.way.constant(self.random.randrange(WIDE))
            self.numbers.append(self.way.call("score", self.pick(self.wide), label))
        else:
            self.numbers.append(self.way.call("dot", self.pick(self.wide), self.pick(self.wide)))

    def operations(self):
        kind = self.random.randrange(6)
        x, y = self.pick(self.wide), self.pick(self.wide)
        if kind == 0:
            self.wide.append((x + y) / 2)
        elif kind == 1:
            self.narrow.append(torch.cat([x, y])[2 : 2 + NARROW])
        elif kind == 2:
            self.narrow.append(torch.tanh(torch.mv(self.net.mixed, x)) if self.random.random() < 0.5
                               else self.net.mixed @ y)
        elif kind == 3:
            self.numbers.append(x[self.random.randrange(WIDE)] * 0.5 - y.mean())
        elif kind == 4 and self.numbers:
            self.wide.append(x * torch.sigmoid(self.pick(self.numbers)))
        else:
            self.wide.append(torch.sin(x) - self.way.constant(0.25))

    def lists(self):
        fold = self.random.choice([self.way.sum, self.way.mean, self.way.max])
        values = self.random.choice([values for values in (self.wide, self.narrow, self.numbers) if values])
        values.append(fold(self.some(values)))

    def midway(self):
        if float(self.way.now(self.pick(self.wide)).detach().sum()) > 0:
            self.wide.append(self.way.call("affine", self.pick(self.wide)))

    def run(self):
        """The loss, and the values of the last instance."""
        losses = []
        for _ in range(self.random.randint(1, 4)):
            self.wide, self.narrow, self.numbers = self.wide[-1:], [], []
            for _ in range(self.random.randint(1, 3)):
                self.leaf()
            for _ in range(self.random.randint(1, 8)):
                self.random.choices([self.calls_of_cells, self.operations, self.lists, self.midway, self.leaf],
                                    [6, 4, 3, 0.3, 1])[0]()
            value = self.way.call("dot", self.wide[-1], self.pick(self.wide))
            losses.append(value * self.random.uniform(0.5, 2))
        return self.way.sum(losses), self.wide[-1]
