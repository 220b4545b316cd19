"""Every op of the library has a function, and gives what NumPy gives."""

import numpy as np
import pytest

import espalier as esp

RNG = np.random.default_rng(3)
V = RNG.normal(size=5).astype(np.float32)
P = (np.abs(V) + 0.5).astype(np.float32)
M = RNG.normal(size=(3, 5)).astype(np.float32)
N = RNG.normal(size=(5, 4)).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# Ops whose function has another name, or that only others use.
ELSEWHERE = {
    "parameter": "input", "gather_rows": "rows", "sum_axis": "sum", "mean_axis": "mean",
    "max_axis": "max", "min_axis": "min",
}  # fmt: skip

CASES = {
    "tanh": (lambda: esp.tanh(V), np.tanh(V)),
    "sigmoid": (lambda: esp.sigmoid(V), sigmoid(V)),
    "relu": (lambda: esp.relu(V), np.maximum(V, 0)),
    "leaky_relu": (lambda: esp.leaky_relu(V, 0.1), np.where(V > 0, V, 0.1 * V)),
    "elu": (lambda: esp.elu(V, alpha=2), np.where(V > 0, V, 2 * (np.exp(V) - 1))),
    "silu": (lambda: esp.silu(V), V * sigmoid(V)),
    "softplus": (lambda: esp.softplus(V), np.log1p(np.exp(V))),
    "exp": (lambda: esp.exp(V), np.exp(V)),
    "log": (lambda: esp.log(P), np.log(P)),
    "sqrt": (lambda: esp.sqrt(P), np.sqrt(P)),
    "square": (lambda: esp.square(V), V**2),
    "abs": (lambda: esp.abs(V), np.abs(V)),
    "negate": (lambda: esp.negate(V), -V),
    "one_minus": (lambda: esp.one_minus(V), 1 - V),
    "reciprocal": (lambda: esp.reciprocal(P), 1 / P),
    "clamp": (lambda: esp.clamp(V, -0.5, 0.5), np.clip(V, -0.5, 0.5)),
    "pow": (lambda: esp.pow(P, 1.5), P**1.5),
    "scale": (lambda: esp.scale(V, 3), 3 * V),
    "shift": (lambda: esp.shift(V, 3), V + 3),
    "where": (lambda: esp.where(V, P, 2 * P), np.where(V > 0, P, 2 * P)),
    "mul_add": (lambda: esp.mul_add(V, P, V), V * P + V),
    "add": (lambda: esp.add(V, P), V + P),
    "sub": (lambda: esp.sub(V, P), V - P),
    "mul": (lambda: esp.mul(V, P), V * P),
    "div": (lambda: esp.div(V, P), V / P),
    "linear": (lambda: esp.linear(V, N), V @ N),
    "affine": (lambda: esp.affine(V, N, np.ones(4)), V @ N + 1),
    "matmul": (lambda: esp.matmul(M, N), M @ N),
    "matvec": (lambda: esp.matvec(M, V), M @ V),
    "dot": (lambda: esp.dot(V, P), V @ P),
    "squared_distance": (lambda: esp.squared_distance(V, P), ((V - P) ** 2).sum()),
    "l2_norm": (lambda: esp.l2_norm(V), np.linalg.norm(V)),
    "softmax": (lambda: esp.softmax(M), softmax(M)),
    "softmax of axis 0": (lambda: esp.softmax(M, axis=0), softmax(M, 0)),
    "log_softmax": (lambda: esp.log_softmax(M), np.log(softmax(M))),
    "logsumexp": (lambda: esp.logsumexp(V), np.log(np.exp(V).sum())),
    "layer_norm": (lambda: esp.layer_norm(esp.input(V), esp.input(np.ones(5)), esp.input(np.zeros(5))),
                   (V - V.mean()) / np.sqrt(V.var() + 1e-5)),
    "cross_entropy": (lambda: esp.cross_entropy(V, 2), -np.log(softmax(V)[2])),
    "cross_entropy of a numpy integer": (lambda: esp.cross_entropy(V, np.int64(2)), -np.log(softmax(V)[2])),
    "binary_cross_entropy": (lambda: esp.binary_cross_entropy(V, np.ones(5)), np.log1p(np.exp(-V)).mean()),
    "binary_cross_entropy of a number": (lambda: esp.binary_cross_entropy(V, 1.0), np.log1p(np.exp(-V)).mean()),
    "mse": (lambda: esp.mse(V, P), ((V - P) ** 2).mean()),
    "huber": (lambda: esp.huber(V, P, 100.0), ((V - P) ** 2).mean() / 2),
    "hinge": (lambda: esp.hinge(V, 1), np.maximum(0, 1 + np.delete(V, 1) - V[1]).sum()),
    "sum of a list": (lambda: esp.sum([V, P, V]), 2 * V + P),
    "sum": (lambda: esp.sum(esp.input(M)), M.sum()),
    "sum of an axis": (lambda: esp.sum(esp.input(M), axis=1), M.sum(1)),
    "mean of a list": (lambda: esp.mean([V, P]), (V + P) / 2),
    "mean": (lambda: esp.mean(esp.input(M)), M.mean()),
    "mean of an axis": (lambda: esp.mean(esp.input(M), axis=-1), M.mean(-1)),
    "max of a list": (lambda: esp.max([V, P]), np.maximum(V, P)),
    "max": (lambda: esp.max(esp.input(M)), M.max()),
    "max of an axis": (lambda: esp.max(esp.input(M), axis=0), M.max(0)),
    "min": (lambda: esp.min(esp.input(M)), M.min()),
    "min of an axis": (lambda: esp.min(esp.input(M), axis=0), M.min(0)),
    "concat": (lambda: esp.concat([V, P]), np.concatenate([V, P])),
    "concat of axis 1": (lambda: esp.concat([M, M], axis=1), np.concatenate([M, M], 1)),
    "stack": (lambda: esp.stack([V, P], axis=1), np.stack([V, P], 1)),
    "slice": (lambda: esp.slice(M, 1, 3, axis=1), M[:, 1:3]),
    "split": (lambda: esp.concat(esp.split(esp.input(V), [2, 3])[::-1]), np.concatenate([V[2:], V[:2]])),
    "reshape": (lambda: esp.reshape(M, (5, 3)), M.reshape(5, 3)),
    "flatten": (lambda: esp.flatten(M), M.ravel()),
    "transpose": (lambda: esp.transpose(M), M.T),
    "broadcast": (lambda: esp.broadcast(2.0, (2, 2)), np.full((2, 2), 2.0)),
    "pick": (lambda: esp.pick(V, 3), V[3]),
    "max_pool": (lambda: esp.max_pool(M), M.max(0)),
    "max_pool of windows": (lambda: esp.max_pool(M, 2), np.stack([M[:2].max(0), M[2]])),
    "conv1d": (lambda: esp.conv1d(M, np.vstack([N, N])), M[:-1] @ N + M[1:] @ N),
    "join_rows": (lambda: esp.join_rows(esp.Graph().rows(np.arange(8).reshape(4, 2)), 2), np.arange(8).reshape(2, 4)),
    "first_rows": (lambda: esp.first_rows(esp.Graph().rows(np.arange(8).reshape(4, 2)), 3),
                   np.arange(6).reshape(3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name):
    record, expected = CASES[name]
    with esp.Graph():
        value = record().value()
    assert value.shape == np.shape(expected)
    np.testing.assert_allclose(value, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", esp.op_names)
def test_every_op_of_the_library_has_a_function(name):
    function = getattr(esp, ELSEWHERE.get(name, name))
    assert function.__doc__


def test_lists_and_axes_do_not_mix():
    with esp.Graph(), pytest.raises(esp.UsageError, match="an axis is for a single tensor"):
        esp.sum([V, P], axis=0)


def test_a_row_per_label():
    with esp.Graph() as g:
        loss = esp.cross_entropy(g.rows(M), [0, 3, 1])
    np.testing.assert_allclose(loss.value(), -np.log(softmax(M))[[0, 1, 2], [0, 3, 1]], rtol=1e-5)


def test_parameters_alone_are_computed_in_the_current_graph():
    model = esp.Model()
    w = model.add("w", 3, init=2.0)
    with esp.Graph():
        assert esp.square(w).value().tolist() == [4.0] * 3
        assert (w_plus := esp.add(w, 1)).value().tolist() == [3.0] * 3
        assert w_plus.graph is not None
    with pytest.raises(esp.UsageError):
        esp.square(w)
