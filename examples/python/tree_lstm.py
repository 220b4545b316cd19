"""A binary Tree-LSTM (Tai et al., 2015) over trees of words, with a label at the root: batched, and as a loop."""

import random
from dataclasses import dataclass

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn
from torch.nn.functional import cross_entropy

GOOD, BAD, NOT, VERY, WORDS = range(5)


@dataclass
class Tree:
    word: int = -1  # of a leaf
    left: "Tree | None" = None
    right: "Tree | None" = None


class TreeLstm(nn.Module):
    """Ordinary modules, whose functions take and return rows."""

    def __init__(self, size=16):
        super().__init__()
        self.words = nn.Embedding(WORDS, size)
        self.leaf_gates = nn.Linear(size, 3 * size)
        self.gates = nn.Linear(2 * size, 5 * size)
        self.classify = nn.Linear(size, 2)

    def leaf(self, x):
        i, o, u = self.leaf_gates(x).chunk(3, 1)
        c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    def node(self, left_h, left_c, right_h, right_c):
        i, o, f_left, f_right, u = self.gates(torch.cat([left_h, right_h], 1)).chunk(5, 1)
        c = i.sigmoid() * u.tanh() + f_left.sigmoid() * left_c + f_right.sigmoid() * right_c
        return o.sigmoid() * c.tanh(), c

    def loss(self, h, label):
        return cross_entropy(self.classify(h), label, reduction="none")


class Loop:
    """One call per node, each with one row."""

    def __init__(self, model):
        self.model = model

    def encode(self, tree):
        if tree.word >= 0:
            return self.model.leaf(self.model.words(torch.tensor([tree.word])))
        return self.model.node(*self.encode(tree.left), *self.encode(tree.right))

    def loss(self, instances):
        losses = [self.model.loss(self.encode(tree)[0], torch.tensor([label])) for tree, label in instances]
        return torch.cat(losses).mean()


class Batched:
    """The same code; the nodes of all trees run together."""

    def __init__(self, model):
        self.words = et.lookup(model.words)
        self.leaf, self.node, self.node_loss = et.cell(model.leaf), et.cell(model.node), et.cell(model.loss)

    def encode(self, tree):
        if tree.word >= 0:
            return self.leaf(self.words(tree.word))
        return self.node(*self.encode(tree.left), *self.encode(tree.right))

    def loss(self, instances):
        with et.batch() as b:
            return b.run(et.mean([self.node_loss(self.encode(tree)[0], et.constant(label))
                                  for tree, label in instances]))


def random_tree(depth, rng):
    """A tree, and whether it praises: "not" turns its right neighbour around."""
    if depth == 0 or rng.random() < 0.3:
        word = rng.choice([GOOD, BAD])
        return Tree(word), int(word == GOOD)
    tree, label = random_tree(depth - 1, rng)
    word = rng.choice([NOT, VERY])
    return Tree(left=Tree(word), right=tree), 1 - label if word == NOT else label


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = TreeLstm()
    return train("Tree-LSTM", model, Loop(model).loss, Batched(model).loss, [random_tree(6, rng) for _ in range(256)])


if __name__ == "__main__":
    main()
