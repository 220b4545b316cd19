"""Cells and recursions of your own, and trees as arrays."""

import numpy as np

import espalier as esp


class Net:
    def __init__(self):
        self.model = esp.Model(seed=1)
        self.W = self.model.add("W", (16, 8))
        self.b = self.model.add("b", 8, init="zeros")
        self.tree = esp.Recursion("tree", [
            esp.Kind("leaf", 0, esp.tanh),  # of a row of x
            esp.Kind("pair", 2, self.combine, takes_x=False),  # of the states of two children
        ])  # fmt: skip

    def combine(self, left, right):
        return esp.tanh(esp.affine(esp.concat([left, right]), self.W, self.b))

    @esp.cell
    def merge(self, left, right):  # recorded as one node per use
        return self.combine(left, right)


def main():
    net = Net()
    x = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)
    with esp.Graph() as g:
        # ((0 1) 2), node by node
        a, b, c = (esp.tanh(g.input(row)) for row in x)
        top = net.merge(net.merge(a, b), c)
        # The same tree as data: the children of each row, -1 for none. It is one node, whatever its size.
        states = net.tree(g.rows(x), [[-1, -1], [-1, -1], [0, 1], [-1, -1], [2, 3]])
        np.testing.assert_allclose(top.value(), states.value()[-1], rtol=1e-5)
        print(g.explain())


if __name__ == "__main__":
    main()
