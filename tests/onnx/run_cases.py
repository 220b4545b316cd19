#!/usr/bin/env python3
"""Runs the cases of a folder (tests/onnx/cases.h) by ONNX Runtime, on one thread, and compares what it gives.

A case is a folder with model.onnx and folders of calls: inputs feed.NAME.npy, outputs expect.NAME.npy. Where Python
also has the package onnx, its checker must accept the model and infer all shapes.
"""

import pathlib
import sys

import numpy as np
import onnxruntime

try:
    import onnx
except ImportError:
    onnx = None

TOLERANCE = 1e-5  # of the largest magnitude


def arrays(folder, kind):
    return {path.name[len(kind) + 1 : -4]: np.load(path) for path in sorted(folder.glob(kind + ".*.npy"))}


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def problem_of(session, call):
    expected = arrays(call, "expect")
    given = dict(zip(expected, session.run(list(expected), arrays(call, "feed"))))
    for name, want in expected.items():
        have = given[name]
        if have.shape != want.shape:
            return f"{name} has shape {have.shape}, not {want.shape}"
        finite = np.isfinite(want)
        if not np.array_equal(np.isfinite(have), finite):
            return f"{name} is finite elsewhere"
        largest = np.max(np.abs(want[finite]), initial=1e-30)
        error = np.max(np.abs(have[finite] - want[finite]), initial=0) / largest
        if error > TOLERANCE:
            return f"{name} differs by {error:.2g} of the largest magnitude"
    return None


def main(folder):
    count, problems = 0, 0
    for case in sorted(path.parent for path in pathlib.Path(folder).rglob("model.onnx")):
        try:
            if onnx is not None:
                onnx.checker.check_model(str(case / "model.onnx"), full_check=True)
            session = session_of(case / "model.onnx")
            problem = next(filter(None, (problem_of(session, call) for call in sorted(case.glob("call*")))), None)
        except Exception as error:  # whatever any of the packages raises is a problem of this case
            problem = str(error)
        count += 1
        if problem:
            problems += 1
            print(f"{case.name}: {problem}")
    print(f"{problems} of {count} cases differ" if problems else f"{count} cases agree")


main(sys.argv[1])
