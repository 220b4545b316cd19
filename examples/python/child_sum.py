"""A child-sum Tree-LSTM (Tai et al., 2015): nodes with any number of children. Learns to evaluate "and" and "or"."""

import random
from dataclasses import dataclass, field

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn
from torch.nn.functional import cross_entropy

FALSE, TRUE, AND, OR, WORDS = range(5)


@dataclass
class Tree:
    word: int
    children: list["Tree"] = field(default_factory=list)


class ChildSum(nn.Module):
    """Functions over rows. What happens for each child is one of its own."""

    def __init__(self, size=16):
        super().__init__()
        self.words = nn.Embedding(WORDS, size)
        self.input_gates = nn.Linear(size, 3 * size)
        self.state_gates = nn.Linear(size, 3 * size, bias=False)
        self.forget_x = nn.Linear(size, size)
        self.forget_h = nn.Linear(size, size, bias=False)
        self.classify = nn.Linear(size, 2)

    def leaf(self, x):
        return self.gated(self.input_gates(x), 0)

    def forget(self, x, h, c):
        return torch.sigmoid(self.forget_x(x) + self.forget_h(h)) * c

    def node(self, x, sum_h, sum_c):
        return self.gated(self.input_gates(x) + self.state_gates(sum_h), sum_c)

    def gated(self, gates, c):
        i, o, u = gates.chunk(3, 1)
        c = i.sigmoid() * u.tanh() + c
        return o.sigmoid() * c.tanh(), c

    def loss(self, h, label):
        return cross_entropy(self.classify(h), label, reduction="none")


class Loop:
    """One call per node and child, each with one row."""

    def __init__(self, model):
        self.model = model

    def encode(self, tree):
        x = self.model.words(torch.tensor([tree.word]))
        if not tree.children:
            return self.model.leaf(x)
        states = [self.encode(child) for child in tree.children]
        sum_h = sum(h for h, _ in states)
        sum_c = sum(self.model.forget(x, h, c) for h, c in states)
        return self.model.node(x, sum_h, sum_c)

    def loss(self, instances):
        losses = [self.model.loss(self.encode(tree)[0], torch.tensor([label])) for tree, label in instances]
        return torch.cat(losses).mean()


class Batched:
    """The same code; `et.sum` adds any number of states, and all sums of a step run together."""

    def __init__(self, model):
        self.words = et.lookup(model.words)
        self.leaf, self.node, self.forget = et.cell(model.leaf), et.cell(model.node), et.cell(model.forget)
        self.node_loss = et.cell(model.loss)

    def encode(self, tree):
        x = self.words(tree.word)
        if not tree.children:
            return self.leaf(x)
        states = [self.encode(child) for child in tree.children]
        sum_h = et.sum([h for h, _ in states])
        sum_c = et.sum([self.forget(x, h, c) for h, c in states])
        return self.node(x, sum_h, sum_c)

    def loss(self, instances):
        with et.batch() as b:
            return b.run(et.mean([self.node_loss(self.encode(tree)[0], et.constant(label))
                                  for tree, label in instances]))


def random_tree(depth, rng):
    """A tree of "and" and "or" with one to four children, and its value."""
    if depth == 0 or rng.random() < 0.2:
        value = rng.randrange(2)
        return Tree(TRUE if value else FALSE), value
    trees, values = zip(*(random_tree(depth - 1, rng) for _ in range(rng.randint(1, 4))))
    word = rng.choice([AND, OR])
    return Tree(word, list(trees)), int(all(values) if word == AND else any(values))


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = ChildSum()
    return train("child-sum Tree-LSTM", model, Loop(model).loss, Batched(model).loss,
                 [random_tree(3, rng) for _ in range(256)])


if __name__ == "__main__":
    main()
