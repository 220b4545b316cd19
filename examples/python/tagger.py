"""A tagger: LSTMs in both directions over sentences of different lengths, without padding or masks."""

import random

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn
from torch.nn.functional import cross_entropy

WORDS, TAGS, SIZE = 20, 3, 16


class Tagger(nn.Module):
    """PyTorch's LSTMCell is a cell as it is."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, SIZE)
        self.forward_step = nn.LSTMCell(SIZE, SIZE)
        self.backward_step = nn.LSTMCell(SIZE, SIZE)
        self.classify = nn.Linear(2 * SIZE, TAGS)

    def loss(self, forward, backward, tag):
        return cross_entropy(self.classify(torch.cat([forward, backward], 1)), tag, reduction="none")


class Loop:
    """One call per word and direction, each with one row."""

    def __init__(self, model):
        self.model = model

    def read(self, step, xs):
        state, states = (torch.zeros(1, SIZE), torch.zeros(1, SIZE)), []
        for x in xs:
            state = step(x, state)
            states.append(state[0])
        return states

    def loss(self, instances):
        losses = []
        for words, tags in instances:
            xs = [self.model.words(torch.tensor([word])) for word in words]
            forward = self.read(self.model.forward_step, xs)
            backward = self.read(self.model.backward_step, xs[::-1])[::-1]
            losses += [self.model.loss(f, b, torch.tensor([tag])) for f, b, tag in zip(forward, backward, tags)]
        return torch.cat(losses).mean()


class Batched:
    """The same code; the words at one place of all sentences run together."""

    def __init__(self, model):
        self.words = et.lookup(model.words)
        self.forward_step, self.backward_step = et.cell(model.forward_step), et.cell(model.backward_step)
        self.word_loss = et.cell(model.loss)
        self.zeros = torch.zeros(SIZE)

    def read(self, step, xs):
        state, states = (self.zeros, self.zeros), []
        for x in xs:
            state = step(x, state)
            states.append(state[0])
        return states

    def loss(self, instances):
        losses = []
        with et.batch() as b:
            for words, tags in instances:
                xs = [self.words(word) for word in words]
                forward = self.read(self.forward_step, xs)
                backward = self.read(self.backward_step, xs[::-1])[::-1]
                losses += [self.word_loss(f, b, et.constant(tag)) for f, b, tag in zip(forward, backward, tags)]
            return b.run(et.mean(losses))


def random_sentence(rng):
    """Words, and tags: 0 for a word smaller than its successor, 1 for others, 2 for one that occurred before."""
    words = [rng.randrange(WORDS) for _ in range(rng.randint(3, 15))]
    tags = [2 if word in words[:i] else int(i + 1 == len(words) or word >= words[i + 1])
            for i, word in enumerate(words)]
    return words, tags


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = Tagger()
    return train("tagger", model, Loop(model).loss, Batched(model).loss, [random_sentence(rng) for _ in range(256)])


if __name__ == "__main__":
    main()
