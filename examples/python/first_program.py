"""A Tree-LSTM learns which trees of words are praise. The same program in C++ is examples/first_program.cc."""

import espalier as esp

GOOD, BAD, NO, VERY = range(4)
DATA = [(GOOD, 1), (BAD, 0), ((NO, GOOD), 0), ((NO, BAD), 1), ((NO, (VERY, BAD)), 1)]  # a tree, and whether it praises


class Net:
    def __init__(self):
        self.model = esp.Model()
        self.words = esp.nn.Embedding(self.model / "words", 4, 16)
        self.cell = esp.nn.BinaryTreeLstm(self.model / "cell", 16, 32)
        self.classify = esp.nn.Linear(self.model / "classify", 32, 2)

    def encode(self, tree):  # written for one tree
        if isinstance(tree, int):
            return self.cell.leaf(self.words(tree))
        return self.cell(self.encode(tree[0]), self.encode(tree[1]))


def train():
    net = Net()
    adam = esp.optim.Adam(net.model, learning_rate=0.01)
    for _ in range(100):
        with esp.Graph() as g:  # records; computes nothing yet
            losses = []
            for tree, label in DATA:
                g.begin_instance()
                losses.append(esp.cross_entropy(net.classify(net.encode(tree).h), label))
            loss = esp.mean(losses)
            loss.backward()  # runs all trees together, forward and backward
            adam.step()
    return loss.scalar()


if __name__ == "__main__":
    loss = train()
    print(f"loss {loss:.4f}")
    assert loss < 0.01
