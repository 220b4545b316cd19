#!/usr/bin/env python3
"""Compares the Python package with the C++ API: the binary Tree-LSTM of the benchmark (B1), on one thread.

P1 records node by node from Python, P2 passes a whole tree as one node. Both start from the weights of the C++ side,
run the same minibatches in interleaved rounds, and give the same losses, or the comparison ends. Also prints what
recording one node takes. Needs the package `espalier` and NumPy, and the program espalier_peer.
"""

import argparse
import os
import sys
import tempfile
import time

import compare
import numpy as np

import espalier as esp


class Tree:
    """Nodes in order, children before their parent."""

    def __init__(self, numbers):
        nodes = np.array(numbers, np.int32).reshape(-1, 4)
        self.nodes = [tuple(node) for node in nodes.tolist()]  # left, right, word, label
        self.children = np.ascontiguousarray(nodes[:, :2])
        self.words = np.ascontiguousarray(nodes[nodes[:, 0] < 0, 2])
        self.labels = np.ascontiguousarray(nodes[:, 3])


def read_trees(path):
    with open(path) as file:
        words, labels, kind = file.readline().split()
        return [Tree([int(text) for text in line.split()]) for line in file], int(words), int(labels), kind


class Package:
    """A network with the weights of B1; it differs from others by how it records a tree."""

    def __init__(self, folder, sizes, by_rows):
        self.trees, words, labels, self.kind = read_trees(os.path.join(folder, "trees.txt"))
        embedding, hidden = (int(size) for size in sizes.split("/"))
        self.model = esp.Model()
        self.words = esp.nn.Embedding(self.model / "words", words, embedding)
        self.cell = esp.nn.BinaryTreeLstm(self.model / "cell", embedding, hidden)
        self.classify = esp.nn.Linear(self.model / "classify", hidden, labels)
        self.model.load(os.path.join(folder, "weights.safetensors"))
        self.sgd = esp.optim.Sgd(self.model)
        self.graph = esp.Graph()
        self.states = self.states_by_rows if by_rows else self.states_by_nodes
        self.by_rows = by_rows

    def states_by_nodes(self, tree):
        words, cell, states = self.words, self.cell, []
        for left, right, word, _ in tree.nodes:
            states.append(cell.leaf(words(word)) if left < 0 else cell(states[left], states[right]))
        return states

    def states_by_rows(self, tree):
        return self.cell.rows(self.words.rows(tree.words), tree.children)

    def loss(self, tree):
        """A row per node, as in espalier/models/sentiment_net.cc."""
        states = self.states(tree)
        h = states.h if self.by_rows else esp.rows([state.h for state in states])
        return esp.cross_entropy(self.classify(h), tree.labels)

    def scores(self, tree):
        states = self.states(tree)
        return self.classify(esp.row(states.h, len(tree.nodes) - 1) if self.by_rows else states[-1].h)

    def record(self, mode, trees):
        self.graph.clear()
        exprs = []
        for tree in trees:
            self.graph.begin_instance()
            exprs.append(self.loss(tree) if mode == "train" else self.scores(tree))
        return exprs

    def run(self, mode, first, batch, count):
        total = 0.0
        start = time.perf_counter()
        with self.graph:
            for i in range(count):
                exprs = self.record(mode, self.trees[first + i * batch : first + (i + 1) * batch])
                if mode == "train":
                    self.sgd.learning_rate = compare.LEARNING_RATE / batch
                    loss = esp.sum(exprs)
                    self.sgd.minimise(loss)
                    total += loss.scalar()
                else:
                    self.graph.finish(exprs)
                    total += sum(float(expr.value().sum()) for expr in exprs)
        return time.perf_counter() - start, total


def nanoseconds_per_node(record, nodes, rounds=15):
    """The quickest of several: other processes only ever add to it."""
    graph = esp.Graph()
    times = []
    for _ in range(rounds):
        graph.clear()
        with graph:
            start = time.perf_counter_ns()
            record(graph)
            times.append((time.perf_counter_ns() - start) / nodes)
    return min(times)


def print_recording():
    """What recording takes, apart from computing."""
    model = esp.Model()
    W, b = model.add("W", (8, 4)), model.add("b", 4)
    merge = esp.cell(lambda x, y: esp.tanh(esp.affine(esp.concat([x, y]), W, b)), name="merge")
    lstm = esp.nn.BinaryTreeLstm(model / "lstm", 4, 4)

    def uses_of_a_cell(graph, count=10000):
        x = graph.input(np.zeros(4))
        for _ in range(count):
            x = merge(x, x)

    def uses_of_a_layer(graph, count=10000):
        state = lstm.leaf(np.zeros(4))
        for _ in range(count):
            state = lstm(state, state)

    def a_recursion(graph, depth=13):
        leaf = graph.input(np.zeros(4))

        def tree(depth):
            return leaf if depth == 0 else merge(tree(depth - 1), tree(depth - 1))

        tree(depth)

    print("\nRecording from Python, ns per node (the quickest of 15):")
    print(f"  a cell of two inputs          {nanoseconds_per_node(uses_of_a_cell, 10000):6.0f}")
    print(f"  a Tree-LSTM layer             {nanoseconds_per_node(uses_of_a_layer, 10000):6.0f}")
    print(f"  a recursive function of Python{nanoseconds_per_node(a_recursion, 2**13 - 1):6.0f}")


def compare_package(options, folder):
    esp.set_thread_count(1)
    process = compare.start_espalier(options.espalier, options.sizes, folder)
    contenders = {
        "C++, cells": compare.Espalier(process, "cells"),
        "C++, recursion": compare.Espalier(process, "recursion"),
        "P1: Python, node by node": Package(folder, options.sizes, by_rows=False),
        "P2: Python, a tree as one node": Package(folder, options.sizes, by_rows=True),
    }
    first = contenders["P1: Python, node by node"]
    print(f"Binary Tree-LSTM, {options.sizes}, {len(first.trees):,} {first.kind} trees, one thread")
    losses = compare.check_losses(contenders, max(options.batches))
    print("Scores of one batch after two updates sum to " + ", ".join(f"{x:.8f}" for x in losses.values()))
    for mode in options.modes:
        for batch in options.batches:
            speeds = compare.measure(contenders, mode, batch, options, len(first.trees))
            base = speeds["C++, cells"]
            print(f"\n{mode}, batch {batch}: trees/s, and over C++ cells")
            for name, speed in speeds.items():
                print(f"  {name:<32}{speed:>8,}{speed / base:>8.2f}")
    process.stdin.close()
    process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--espalier", default="build/release/bench/espalier_peer", help="the program espalier_peer")
    parser.add_argument("--sizes", default="300/150", help="embedding/hidden (default: 300/150)")
    parser.add_argument("--batches", type=compare.numbers, default=[64], help="batch sizes, as in 1,64")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["train", "infer"], help="train,infer")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds per setting (default: 5)")
    parser.add_argument("--trees", type=int, default=256, help="trees per round and contender (default: 256)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare_package(options, folder)
    print_recording()


if __name__ == "__main__":
    sys.exit(main())
