"""B1 in PyTorch: a binary Tree-LSTM with a label at every node, tree by tree and with levels batched by hand.

The equations and the order of the gates are those of espalier/nn/tree_lstm.h.
"""

import json
import struct

import torch
import torch.nn.functional as F


def read_weights(path):
    """The tensors of a safetensors file, by name."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
            weights[name] = flat.reshape(entry["shape"]).clone()
    return weights


class Tree:
    """Nodes in order, children before their parent: left, right, word (of a leaf), label."""

    def __init__(self, numbers):
        self.left, self.right = numbers[0::4], numbers[1::4]
        self.words, self.labels = numbers[2::4], numbers[3::4]
        self.heights = []
        for left, right in zip(self.left, self.right):
            self.heights.append(0 if left < 0 else 1 + max(self.heights[left], self.heights[right]))


def read_trees(path):
    """The trees, and whether they are real or generated."""
    with open(path) as file:
        kind = file.readline().split()[2]
        return [Tree([int(text) for text in line.split()]) for line in file], kind


class TreeLstm:
    def __init__(self, weights):
        self.weights = weights
        for tensor in weights.values():
            tensor.requires_grad_()
        self.table = weights["words.table"]
        self.hidden = weights["cell.leaf.b"].shape[0] // 3

    def look_up(self, words):
        return F.embedding(torch.tensor(words), self.table, sparse=True)

    def leaves(self, x):
        i, o, u = torch.addmm(self.weights["cell.leaf.b"], x, self.weights["cell.leaf.W"]).split(self.hidden, 1)
        c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    def nodes(self, h_left, h_right, c_left, c_right):
        gates = torch.addmm(self.weights["cell.b"], torch.cat([h_left, h_right], 1), self.weights["cell.U"])
        i, o, f_left, f_right, u = gates.split(self.hidden, 1)
        c = i.sigmoid() * u.tanh() + f_left.sigmoid() * c_left + f_right.sigmoid() * c_right
        return o.sigmoid() * c.tanh(), c

    def classify(self, h):
        return torch.addmm(self.weights["classify.b"], h, self.weights["classify.W"])

    def loss(self, h, labels):
        return F.cross_entropy(self.classify(h), torch.tensor(labels), reduction="sum")


class TreeByTree(TreeLstm):
    """One cell call per node; the labels of a tree are scored together."""

    def states(self, tree):
        # All leaves of a tree in one product would already be batching by hand.
        states = []
        for left, right, word in zip(tree.left, tree.right, tree.words):
            if left < 0:
                states.append(self.leaves(self.look_up([word])))
            else:
                states.append(self.nodes(states[left][0], states[right][0], states[left][1], states[right][1]))
        return states

    def batch_loss(self, trees):
        return sum(self.loss(torch.cat([h for h, _ in self.states(tree)]), tree.labels) for tree in trees)

    def batch_scores(self, trees):
        return torch.cat([self.classify(self.states(tree)[-1][0]) for tree in trees])


class Levels(TreeLstm):
    """All nodes of a height together, over all trees of the minibatch.

    A pool holds the states that wait for their parents. Each level takes its children out and puts its own states in.
    What remains in the end are the roots.
    """

    def run(self, trees):
        """The states of all levels, their labels in the same order, and the states of the roots."""
        levels = {}
        for number, tree in enumerate(trees):
            for node, height in enumerate(tree.heights):
                levels.setdefault(height, []).append((number, node))
        leaves = levels.pop(0)
        h, c = self.leaves(self.look_up([trees[t].words[n] for t, n in leaves]))
        all_h, labels = [h], [trees[t].labels[n] for t, n in leaves]
        waiting = leaves
        for height in sorted(levels):
            level = levels[height]
            place = {key: i for i, key in enumerate(waiting)}
            left = [place.pop((t, trees[t].left[n])) for t, n in level]
            right = [place.pop((t, trees[t].right[n])) for t, n in level]
            rest = torch.tensor(list(place.values()), dtype=torch.long)
            left, right = torch.tensor(left), torch.tensor(right)
            new_h, new_c = self.nodes(h[left], h[right], c[left], c[right])
            h, c = torch.cat([h[rest], new_h]), torch.cat([c[rest], new_c])
            waiting = list(place) + level
            all_h.append(new_h)
            labels += [trees[t].labels[n] for t, n in level]
        return all_h, labels, h

    def batch_loss(self, trees):
        all_h, labels, _ = self.run(trees)
        return self.loss(torch.cat(all_h), labels)

    def batch_scores(self, trees):
        return self.classify(self.run(trees)[2])


def train(model, trees, learning_rate):
    """A step of plain SGD on the sum of all losses; rows of the table that were not used are not touched."""
    loss = model.batch_loss(trees)
    loss.backward()
    with torch.no_grad():
        for tensor in model.weights.values():
            tensor.add_(tensor.grad, alpha=-learning_rate)
            tensor.grad = None
    return loss.item()


def infer(model, trees):
    """The scores of the roots, summed."""
    with torch.inference_mode():
        return model.batch_scores(trees).sum().item()
