#!/usr/bin/env python3
"""Measures espalier.torch: binary trees, child-sum trees and lattices, trained on one thread (row P3).

Binary trees (64 sentiment trees, 300/150, a label at every node) are compared with levels batched by hand and with
PyTorch one by one (bench/peers/tree_lstm.py), the others with the loops of examples/python. All compute the same
losses, which is checked first, and take turns on the same batches. Times are of the process, so that other processes
matter less; a row is the median of the rounds, and a ratio that of the ratios of each round.

Needs the package espalier and PyTorch. Reads sst/train.txt below ESPALIER_DATA; without it, makes trees.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "examples" / "python")]  # both have a tree_lstm: the first

import child_sum  # noqa: E402
import espalier.torch as et  # noqa: E402
import lattice  # noqa: E402
import torch  # noqa: E402
import tree_lstm as plain  # noqa: E402
from torch.nn.functional import cross_entropy, embedding  # noqa: E402

assert hasattr(plain, "Levels"), "bench/peers must come before examples/python"
EMBEDDING, HIDDEN, LABELS, BATCH = 300, 150, 5, 64
RATE = 1e-5
TOLERANCE = 1e-4


class Batched(plain.TreeLstm):
    """One call of a cell per node, batched by espalier.torch."""

    def __init__(self, weights):
        super().__init__(weights)
        self.words = et.lookup(Table(self.table))
        self.leaf, self.node, self.score = et.cell(self.leaves), et.cell(self.nodes), et.cell(self.node_loss)
        self.scores = et.cell(self.classify)

    def node_loss(self, h, label):
        return cross_entropy(self.classify(h), label, reduction="none")

    def states(self, tree):
        words, leaf, node, states = self.words, self.leaf, self.node, []
        for left, right, word in zip(tree.left, tree.right, tree.words):
            if left < 0:
                states.append(leaf(words(word)))
            else:
                (left_h, left_c), (right_h, right_c) = states[left], states[right]
                states.append(node(left_h, right_h, left_c, right_c))
        return states

    def batch_loss(self, trees):
        with et.batch() as b:
            losses = []
            for tree in trees:
                for (h, _), label in zip(self.states(tree), tree.labels):
                    losses.append(self.score(h, et.constant(label)))
            total = b.run(et.sum(losses))
        self.statistics = b.statistics()
        return total


class Table(torch.nn.Module):
    """The peers' embedding, whose gradient is sparse."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, rows):
        return embedding(rows, self.table, sparse=True)


class Example:
    """A model of examples/python, trained by plain SGD."""

    def __init__(self, model, loss_of):
        self.weights = dict(model.named_parameters())
        self.batch_loss = loss_of


def read_sentiment_trees(path):
    """Trees of the form (3 (2 It) (4 (2 's) (4 good))), and how many words there are."""
    numbers, trees = {}, []
    for line in path.read_text().splitlines():
        nodes, stack = [], []
        for label, word, end in re.findall(r"\((\d) ([^\s()]+)?|(\))", line):
            if not end:
                stack.append((int(label), numbers.setdefault(word, len(numbers)) if word else -1, []))
                continue
            label, word, parts = stack.pop()
            nodes += [*(parts if parts else (-1, -1)), word, label]
            if stack:
                stack[-1][2].append(len(nodes) // 4 - 1)
        trees.append(plain.Tree(nodes))
    return trees, len(numbers)


def make_sentiment_trees(count, rng):
    """Random binary trees with about 19 leaves, as in the Stanford Sentiment Treebank."""
    def grow(leaves, nodes):
        if leaves == 1:
            nodes += [-1, -1, int(rng.paretovariate(0.8)) % 15000, rng.randrange(LABELS)]
        else:
            split = rng.randint(1, leaves - 1)
            left, right = grow(split, nodes), grow(leaves - split, nodes)
            nodes += [left, right, -1, rng.randrange(LABELS)]
        return len(nodes) // 4 - 1

    trees = []
    for _ in range(count):
        nodes = []
        grow(max(2, round(rng.gauss(19, 9))), nodes)
        trees.append(plain.Tree(nodes))
    return trees, 15000


def weights_of(words):
    """The same initial weights for each contender."""
    generator = torch.Generator().manual_seed(1)
    shapes = {"words.table": (words, EMBEDDING), "cell.leaf.W": (EMBEDDING, 3 * HIDDEN), "cell.leaf.b": (3 * HIDDEN,),
              "cell.U": (2 * HIDDEN, 5 * HIDDEN), "cell.b": (5 * HIDDEN,), "classify.W": (HIDDEN, LABELS),
              "classify.b": (LABELS,)}
    return {name: 0.05 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def binary_trees(rng):
    data = pathlib.Path(os.environ.get("ESPALIER_DATA", "")) / "sst" / "train.txt"
    real = bool(os.environ.get("ESPALIER_DATA")) and data.exists()
    trees, words = read_sentiment_trees(data) if real else make_sentiment_trees(2000, rng)
    contenders = {"one by one": plain.TreeByTree(weights_of(words)), "levels by hand": plain.Levels(weights_of(words)),
                  "espalier.torch": Batched(weights_of(words))}
    return f"binary trees ({'real' if real else 'made'})", contenders, trees


def child_sum_trees(rng):
    torch.manual_seed(1)
    model = child_sum.ChildSum(HIDDEN)
    trees = [child_sum.random_tree(4, rng) for _ in range(800)]
    return "child-sum trees", contenders_of(model, child_sum), trees


def lattices(rng):
    torch.manual_seed(1)
    model = lattice.Lattice(HIDDEN)
    return "lattices", contenders_of(model, lattice), [lattice.random_text(rng) for _ in range(800)]


def contenders_of(model, example):
    return {"one by one": Example(model, example.Loop(model).loss),
            "espalier.torch": Example(model, example.Batched(model).loss)}


def seconds(contender, batches):
    began = time.process_time()
    for some in batches:
        plain.train(contender, some, RATE / BATCH)
    return time.process_time() - began


def check_losses(contenders, instances):
    losses = {name: contender.batch_loss(instances).item() for name, contender in contenders.items()}
    low, high = min(losses.values()), max(losses.values())
    if high - low > TOLERANCE * abs(high):
        sys.exit(f"torch_batching.py: the losses differ: {losses}")


def measure(title, contenders, instances, rounds, batches):
    check_losses(contenders, instances[:BATCH])
    minibatches = [instances[i : i + BATCH] for i in range(0, len(instances) - BATCH + 1, BATCH)]
    speeds = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        some = [minibatches[(number * batches + i) % len(minibatches)] for i in range(batches)]
        for name in names[number % len(names) :] + names[: number % len(names)]:
            few = some[:1] if name == "one by one" else some
            speeds[name].append(len(few) * BATCH / seconds(contenders[name], few))
    print(title)
    for name in names:
        ratio = statistics.median(ours / theirs for ours, theirs in zip(speeds["espalier.torch"], speeds[name]))
        print(f"  {name:<16}{statistics.median(speeds[name]):>8,.0f} /s   espalier.torch over this: {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default: 9)")
    parser.add_argument("--batches", type=int, default=3, help="batches of 64 per round (default: 3)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, one thread, training, batches of {BATCH}")
    for workload in (binary_trees, child_sum_trees, lattices):
        measure(*workload(random.Random(1)), options.rounds, options.batches)


if __name__ == "__main__":
    main()
