#!/usr/bin/env python3
"""Feeds trees to a network that `espalier export` wrote, without Espalier: NumPy makes the inputs, ONNX Runtime computes.

usage: onnx_weaver.py MODEL.onnx TREES        scores of trees in brackets, by an exported sentiment model

weave() below is the whole weaver. docs/static_graphs.md explains its output.
"""

import json
import sys

import numpy as np

WINDOW = 32  # steps; a node that could wait runs in the first step of its window
MOST_NODES = 1_000_000


def weave(format, nodes, outputs, rows=None, numbers=()):
    """The inputs of the file for a list of nodes.

    format: the entry "espalier.schedule" of the file's metadata. nodes: (signature, operands, field) each, operands
    before those who read them; an operand is (node, which of its results). outputs: by name, a list of operands.
    rows: input data, by width. Refuses (ValueError) what does not fit.
    """
    signatures, widths = format["signatures"], format["widths"]
    number_of = {signature["name"]: k for k, signature in enumerate(signatures)}
    rows = {width: np.asarray((rows or {}).get(width, []), np.float32).reshape(-1, width)
            for width in format["row_widths"]}
    if len(nodes) > MOST_NODES:
        raise ValueError(f"there are {len(nodes)} nodes, and a call can have {MOST_NODES}: divide the instances")
    kinds = []
    for n, (name, operands, field) in enumerate(nodes):
        if name not in number_of:
            raise ValueError(f"node {n}: the file has no signature {name}")
        signature = signatures[number_of[name]]
        takes = signature["operands"] * (len(operands) if signature["any_number"] else 1)
        if len(takes) != len(operands) or not takes and signature["operands"]:
            raise ValueError(f"node {n}, {name}, has {len(operands)} operands")
        for (node, result), width in zip(operands, takes):
            if not 0 <= node < n or not 0 <= result < len(kinds[node]["results"]) or \
                    kinds[node]["results"][result] != width:
                raise ValueError(f"node {n}, {name}, cannot read result {result} of node {node}")
        most = {"none": 1, "index": signature["choices"], "number": len(numbers),
                "row": len(rows.get(signature["results"][0], ()))}[signature["field"]]
        if not 0 <= field < most:
            raise ValueError(f"node {n}, {name}, has the field {field}, and 0 to {most - 1} are possible")
        kinds.append(signature)

    # The step of each node: the earliest, or later if only later nodes of its window read it.
    earliest, latest = [0] * len(nodes), [None] * len(nodes)
    for n, (_, operands, _) in enumerate(nodes):
        earliest[n] = max((earliest[node] + 1 for node, _ in operands), default=0)
    for n in reversed(range(len(nodes))):
        latest[n] = earliest[n] if latest[n] is None else latest[n]
        for node, _ in nodes[n][1]:
            latest[node] = latest[n] - 1 if latest[node] is None else min(latest[node], latest[n] - 1)
    step, first_use, last_use = [0] * len(nodes), {}, {}
    for n, (_, operands, _) in enumerate(nodes):
        step[n] = max([latest[n] // WINDOW * WINDOW if operands else 0] + [step[node] + 1 for node, _ in operands])
        for operand in operands:
            first_use[operand[0]] = min(first_use.get(operand[0], step[n]), step[n])
    for n, (_, operands, _) in enumerate(nodes):
        if not operands and n in first_use:  # leaves run right before they are read
            step[n] = first_use[n] - 1
        for operand in operands:
            last_use[operand] = max(last_use.get(operand, 0), step[n])
    for operands in outputs.values():
        last_use.update((operand, len(nodes)) for operand in operands)

    by_step = {}
    for n in range(len(nodes)):
        by_step.setdefault(step[n], [[] for _ in signatures])[number_of[nodes[n][0]]].append(n)
    states, place, lengths, schedule = {width: [] for width in widths}, {}, [], []

    def add(piece):
        lengths[-1].append(len(piece))
        schedule.extend(piece)

    for t in range(max(by_step, default=-1) + 1):
        lengths.append([])
        after = {}
        for width in widths:  # rows that somebody still reads
            keep = [i for i, value in enumerate(states[width]) if last_use.get(value, -1) > t]
            add(keep)
            after[width] = [states[width][i] for i in keep]
        for signature, group in zip(signatures, by_step.get(t, [[]] * len(signatures))):
            if signature["any_number"]:
                add([place[operand] for n in group for operand in nodes[n][1]])
                add([r for r, n in enumerate(group) for _ in nodes[n][1]])
                add([len(nodes[n][1]) for n in group])
            else:
                for i in range(len(signature["operands"])):
                    add([place[nodes[n][1][i]] for n in group])
                if signature["field"] != "none" or not signature["operands"]:
                    add([nodes[n][2] for n in group])
            for result, width in enumerate(signature["results"]):
                after[width] += [(n, result) for n in group]
        states = after
        place = {value: i for state in states.values() for i, value in enumerate(state)}

    pieces = len(widths) + sum(
        3 if s["any_number"] else len(s["operands"]) + (s["field"] != "none" or not s["operands"]) for s in signatures)
    feeds = {"lengths": np.asarray(lengths, np.int64).reshape(-1, pieces), "schedule": np.asarray(schedule, np.int64)}
    feeds.update((f"rows.{width}", values) for width, values in rows.items())
    if format["numbers"]:
        feeds["numbers"] = np.asarray(numbers, np.float32)
    for output in format["outputs"]:
        feeds[output["name"] + ".rows"] = np.asarray([place[o] for o in outputs[output["name"]]], np.int64)
    return feeds


def add_tree(text, word_number, nodes):
    """Adds the nodes of a tree such as "(3 (2 very) (3 good))"; gives the node of its scores."""
    open_trees, number = [[]], {}
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            open_trees.append([])
        elif token != ")":
            open_trees[-1].append(token)
        else:
            tree = open_trees.pop()
            if len(tree) == 2 and isinstance(tree[1], str):
                nodes.append(("lookup(words.table)", [], word_number.get(tree[1], 0)))
                nodes.append(("tree_lstm.leaf", [(len(nodes) - 1, 0)], 0))
                state = len(nodes) - 1
            else:  # of more than two children, from the left
                state = tree[1]
                for right in tree[2:]:
                    # A tree without a word of its own, then h and c of both children.
                    nodes.append(("tree_lstm.node", [(state, 0), (state, 1), (right, 0), (right, 1)], 0))
                    state = len(nodes) - 1
            open_trees[-1].append(state)
    nodes.append(("affine(classify.W, classify.b)", [(open_trees[0][0], 0)], 0))
    return len(nodes) - 1


def main(model, trees):
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    words = json.loads(metadata["espalier.model"])["facts"]["words"]
    word_number = {word: k + 1 for k, word in enumerate(words)}  # 0 stands for all other words
    nodes, scores = [], []
    with open(trees, encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            scores.append((add_tree(line, word_number, nodes), 0))
    feeds = weave(json.loads(metadata["espalier.schedule"]), nodes, {"scores": scores})
    for row in session.run(["scores"], feeds)[0]:
        print(" ".join(f"{score:.4f}" for score in row))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
