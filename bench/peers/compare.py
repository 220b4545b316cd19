#!/usr/bin/env python3
"""Compares Espalier with PyTorch: the binary Tree-LSTM of the benchmark (B1), on one thread.

Both sides start from the same weights and run the same minibatches in interleaved rounds. First their losses are
compared: different numbers end the comparison. Prints trees per second (the median of the rounds) and Espalier's speed
over each of the others, computed from the printed figures.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

LEARNING_RATE = 1e-5  # divided by the batch size, as in bench/suite/workload.h
TOLERANCE = 1e-4  # relative, of summed float32 losses


class Espalier:
    """A variant of espalier_peer, which runs as a process of its own and waits while others run."""

    def __init__(self, process, variant):
        self.process, self.variant = process, variant

    def run(self, mode, first, batch, count):
        self.process.stdin.write(f"{self.variant} {mode} {first} {batch} {count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            sys.exit("compare.py: espalier_peer ended early")
        return float(answer[0]), float(answer[1])


class PyTorch:
    def __init__(self, model, trees):
        self.model, self.trees = model, trees

    def run(self, mode, first, batch, count):
        import tree_lstm

        loss = 0
        start = time.perf_counter()
        for i in range(count):
            trees = self.trees[first + i * batch : first + (i + 1) * batch]
            if mode == "train":
                loss += tree_lstm.train(self.model, trees, LEARNING_RATE / batch)
            else:
                loss += tree_lstm.infer(self.model, trees)
        return time.perf_counter() - start, loss


def start_espalier(program, sizes, folder):
    environment = dict(os.environ, ESPALIER_THREADS="1")
    process = subprocess.Popen([program, *sizes.split("/"), folder], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdout.readline() != "ready\n":
        sys.exit("compare.py: espalier_peer did not start")
    return process


def check_losses(contenders, batch):
    """Both modes give the same number everywhere, also after an update."""
    for mode, first in (("infer", 0), ("train", 0), ("train", batch), ("infer", 2 * batch)):
        losses = {name: contender.run(mode, first, batch, 1)[1] for name, contender in contenders.items()}
        low, high = min(losses.values()), max(losses.values())
        if high - low > TOLERANCE * max(abs(low), abs(high)):
            sys.exit(f"compare.py: the losses differ ({mode}, trees from {first}): {losses}")
    return losses


def measure(contenders, mode, batch, options, tree_count):
    """Trees per second of each contender: the median of the rounds."""
    # As many trees in a round for all batch sizes, or the slowest would take too long.
    count = max(1, options.trees // batch)
    speeds = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(options.rounds):
        first = (number * count * batch) % max(1, tree_count - count * batch)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            contenders[name].run(mode, first, batch, 1)  # caches are warm with its own data
            speeds[name].append(count * batch / contenders[name].run(mode, first, batch, count)[0])
    return {name: round(statistics.median(values)) for name, values in speeds.items()}


def print_table(results, names):
    """A row per contender: trees per second in each setting, and Espalier's cells over it."""
    settings = list(results)
    width = max(len(name) for name in names)
    heads = [f"{mode} {batch}" for mode, batch in settings]
    print(f"{'trees/s (cells / this)':<{width + 2}}" + "".join(f"{head:>18}" for head in heads))
    for name in names:
        cells = [f"{results[s][name]:>9,} ({results[s]['Espalier, cells'] / results[s][name]:.2f}x)" for s in settings]
        print(f"{name:<{width + 2}}" + "".join(f"{cell:>18}" for cell in cells))


def compare(options, folder):
    import torch
    import tree_lstm

    torch.set_num_threads(1)
    process = start_espalier(options.espalier, options.sizes, folder)
    trees, kind = tree_lstm.read_trees(os.path.join(folder, "trees.txt"))
    weights = os.path.join(folder, "weights.safetensors")
    contenders = {
        "PyTorch, tree by tree": PyTorch(tree_lstm.TreeByTree(tree_lstm.read_weights(weights)), trees),
        "PyTorch, levels batched by hand": PyTorch(tree_lstm.Levels(tree_lstm.read_weights(weights)), trees),
        "Espalier, cells": Espalier(process, "cells"),
        "Espalier, recursion": Espalier(process, "recursion"),
        "C++ batched by hand (the limit)": Espalier(process, "limit"),
    }
    print(f"Binary Tree-LSTM, {options.sizes}, {len(trees):,} {kind} trees, PyTorch {torch.__version__}, one thread")
    losses = check_losses(contenders, max(options.batches))
    print(f"All compute the same: scores of one batch after two updates sum to {losses['Espalier, cells']:.4f}.\n")
    results = {}
    for mode in options.modes:
        for batch in options.batches:
            results[mode, batch] = measure(contenders, mode, batch, options, len(trees))
    print_table(results, list(contenders))
    print("\nEspalier and the limit compute equal leaves once per minibatch (Espalier's default); PyTorch computes each.")
    process.stdin.close()
    process.wait()


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether PyTorch is missing; exit code 1 if it is")
    parser.add_argument("--espalier", default="build/release/bench/espalier_peer", help="the program espalier_peer")
    parser.add_argument("--sizes", default="300/150", help="embedding/hidden (default: 300/150)")
    parser.add_argument("--batches", type=numbers, default=[1, 64], help="batch sizes, as in 1,64")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["train", "infer"], help="train,infer")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds per setting (default: 5)")
    parser.add_argument("--trees", type=int, default=128, help="trees per round and contender (default: 128)")
    options = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError:
        print(f"PyTorch is not installed: {sys.executable} cannot import torch, so there is nothing to compare with.")
        return 1 if options.check else 0
    if not options.check:
        with tempfile.TemporaryDirectory() as folder:
            compare(options, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
