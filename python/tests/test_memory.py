"""Memory stays steady over many batches, whatever happens in them."""

import gc
import sys

import numpy as np
import pytest

import espalier as esp


def resident_kilobytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


def batch(model, cell, merge, adam, i):
    with esp.Graph() as g:
        x = g.input(np.ones(8, np.float32))
        state = cell(cell.leaf(x), cell.leaf(x * 0.5))
        g.keep(state.h)
        loss = esp.sum(merge(state.h, x))
        loss.backward()
        adam.step()
        values = [loss.value(), state.h.value()]
        if i % 3 == 0:
            with pytest.raises(esp.UsageError):
                x * g.input([1.0])
    return values


def test_ten_thousand_batches_take_no_more_memory_than_a_thousand():
    model = esp.Model(seed=1)
    cell = esp.nn.BinaryTreeLstm(model / "cell", 8, 8)
    adam = esp.optim.Adam(model)

    @esp.cell
    def merge(a, b):
        return esp.tanh(a + b)

    kept = []
    for i in range(1000):
        kept = batch(model, cell, merge, adam, i)
    gc.collect()
    before, objects = resident_kilobytes(), len(gc.get_objects())
    for i in range(9000):
        kept = batch(model, cell, merge, adam, i)
    gc.collect()
    assert kept[1].shape == (8,)
    assert len(gc.get_objects()) <= objects + 100
    assert resident_kilobytes() <= before + 4096


def test_cycles_through_cells_recursions_and_strategies_are_collected():
    def rounds(n):
        for _ in range(n):
            holder = {}
            holder["cell"] = esp.cell(lambda x, holder=holder: x + len(holder), name="cyclic")
            holder["tree"] = esp.Recursion("t", [esp.Kind("leaf", 0, lambda x, holder=holder: esp.tanh(x))])
            holder["graph"] = esp.Graph(strategy=lambda s, b, i, holder=holder: np.arange(len(s), dtype=np.int32))
            g = holder["graph"]
            holder["cell"](g.input([1.0]))
            holder["tree"](g.rows([[1.0]]), [[-1]])
        holder = g = None
        gc.collect()

    rounds(10)
    before = len(gc.get_objects())
    rounds(200)
    assert len(gc.get_objects()) <= before + 50


def test_references_are_not_lost():
    g = esp.Graph()
    before = sys.getrefcount(g)
    x = g.input([1.0])
    exprs = [esp.tanh(x) for _ in range(10)]
    assert sys.getrefcount(g) == before + 11
    del x, exprs
    assert sys.getrefcount(g) == before
