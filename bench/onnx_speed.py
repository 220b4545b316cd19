#!/usr/bin/env python3
"""How fast ONNX Runtime evaluates an exported Tree-LSTM: all trees in one call, one tree per call, and by our engine.

Everything on one thread, in interleaved rounds. Scores are compared first. Prints the median of each, and ratios of the
printed figures. Needs numpy and onnxruntime (.ci/run installs them in build/onnx_python).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime


def feeds_of(value):
    return {name: np.array(feed["values"], np.float32 if feed["float"] else np.int64).reshape(feed["shape"])
            for name, feed in value.items()}


def seconds_of(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def measure(options, folder):
    process = subprocess.Popen([options.espalier, *options.sizes.split("/"), str(options.trees), str(folder)], text=True,
                               env=dict(os.environ, ESPALIER_THREADS="1"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdout.readline() != "ready\n":
        sys.exit("onnx_speed.py: onnx_speed did not start")

    def ask(what):
        process.stdin.write(what + "\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), settings, providers=["CPUExecutionProvider"])
    batch = json.loads((folder / "batch.json").read_text())
    together = feeds_of(batch["feeds"])
    alone = [feeds_of(value) for value in json.loads((folder / "alone.json").read_text())]
    scores = session.run(["scores"], together)[0]
    expected = np.array(batch["scores"], np.float32).reshape(scores.shape)
    one_by_one = np.concatenate([session.run(["scores"], feeds)[0] for feeds in alone])
    error = max(np.max(np.abs(each - expected)) for each in (scores, one_by_one)) / np.max(np.abs(expected))
    if not error < 1e-5:
        sys.exit(f"onnx_speed.py: scores differ by {error:.2g} of the largest")

    contenders = {
        "ONNX Runtime, one call": lambda: seconds_of(lambda: session.run(["scores"], together)),
        "ONNX Runtime, tree by tree": lambda: seconds_of(lambda: [session.run(["scores"], feeds) for feeds in alone]),
        "Espalier, batched": lambda: ask("batch"),
        "Espalier, tree by tree": lambda: ask("alone"),
        "making the inputs (C++)": lambda: ask("weave"),
    }
    times = {name: [] for name in contenders}
    for number in range(options.rounds + 1):
        for name, run in contenders.items():
            taken = run()
            if number > 0:  # the first round warms caches
                times[name].append(taken * 1e3)
    process.stdin.close()
    process.wait()

    print(f"Tree-LSTM {options.sizes}, {options.trees} trees, one thread, ONNX Runtime {onnxruntime.__version__}; "
          f"largest difference of scores {error:.1g} of the largest")
    first = round(statistics.median(times["ONNX Runtime, one call"]), 2)
    print(f"{'':<28}{'ms':>9}   relative")
    for name, values in times.items():
        figure = round(statistics.median(values), 2)
        print(f"{name:<28}{figure:>9.2f}   {figure / first:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--espalier", default="build/release/bench/onnx_speed", help="the program onnx_speed")
    parser.add_argument("--sizes", default="300/150", help="embedding/hidden (default: 300/150)")
    parser.add_argument("--trees", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(options, pathlib.Path(folder))


main()
