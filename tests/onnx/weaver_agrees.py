#!/usr/bin/env python3
"""Compares the inputs that examples/onnx_weaver.py makes of a list of nodes with those that the library made.

usage: weaver_agrees.py EXAMPLES FOLDER       FOLDER has format.json, nodes.json and feeds/feed.NAME.npy
"""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import onnx_weaver  # noqa: E402

folder = pathlib.Path(sys.argv[2])
format = json.loads((folder / "format.json").read_text())
given = json.loads((folder / "nodes.json").read_text())

values, nodes, begin = [], [], 0  # values: (node, result)
for n, (number, end, field) in enumerate(zip(given["signatures"], given["operand_ends"], given["fields"])):
    signature = format["signatures"][number]
    nodes.append((signature["name"], [values[value] for value in given["operands"][begin:end]], field))
    values += [(n, result) for result in range(len(signature["results"]))]
    begin = end
outputs = {output["name"]: [values[value] for value in of]
           for output, of in zip(format["outputs"], given["outputs"])}
rows = {int(width): numbers for width, numbers in given["rows"].items()}

made = onnx_weaver.weave(format, nodes, outputs, rows, given["numbers"])
expected = {path.name[5:-4]: np.load(path) for path in (folder / "feeds").glob("feed.*.npy")}
if sorted(made) != sorted(expected):
    sys.exit(f"inputs {sorted(made)}, not {sorted(expected)}")
for name, want in expected.items():
    if made[name].dtype != want.dtype or not np.array_equal(made[name], want):
        sys.exit(f"{name} is {made[name].dtype}{made[name].shape}, not {want.dtype}{want.shape}, or differs")

refused = 0
reader = next(n for n, node in enumerate(nodes) if node[1])
leaf = next(n for n, node in enumerate(nodes) if not node[1])
name, operands, field = nodes[reader]
for at, damaged in [(reader, ("nothing", operands, field)), (reader, (name, [(len(nodes), 0)] * len(operands), field)),
                    (reader, (name, [(operands[0][0], 99)] * len(operands), field)), (reader, (name, [], field)),
                    (leaf, (nodes[leaf][0], [], 10**6))]:
    try:
        onnx_weaver.weave(format, nodes[:at] + [damaged] + nodes[at + 1 :], outputs, rows, given["numbers"])
    except ValueError:
        refused += 1
print(f"{len(expected)} inputs are the same, {refused} damaged lists are refused")
