"""Dynamic batching of PyTorch code in a few lines: a model for one tree, run over many."""

import espalier.torch as et
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = et.lookup(torch.nn.Embedding(10, 8))
        self.join = torch.nn.Linear(16, 8)
        self.classify = et.cell(torch.nn.Linear(8, 2))

    @et.cell
    def node(self, left, right):  # for rows: [n, 8] and [n, 8]
        return torch.tanh(self.join(torch.cat([left, right], 1)))

    def encode(self, tree):  # for one tree: a word, or a pair
        return self.words(tree) if isinstance(tree, int) else self.node(self.encode(tree[0]), self.encode(tree[1]))


def main():
    torch.manual_seed(0)
    trees, labels = [1, (2, 3), ((4, 5), (6, 7)), (8, (9, (1, 2)))], [0, 1, 0, 1]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 0.05)
    losses = []
    for _ in range(50):
        with et.batch() as b:
            scores = torch.stack(b.run([net.classify(net.encode(tree)) for tree in trees]))
        loss = torch.nn.functional.cross_entropy(scores, torch.tensor(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(b.explain())
    return losses[0], losses[-1]


if __name__ == "__main__":
    main()
