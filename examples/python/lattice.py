"""A lattice LSTM (after Zhang and Yang, 2018): words of a lexicon join the characters that they cover."""

import random

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn
from torch.nn.functional import cross_entropy

CHARACTERS = 8
LEXICON = {(0, 1): 0, (1, 2, 3): 1, (4, 5): 2, (2, 3): 3, (5, 6, 7): 4, (3, 4): 5}


class Lattice(nn.Module):
    """Functions over rows of characters, and of words that end at a character."""

    def __init__(self, size=16):
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, size)
        self.words = nn.Embedding(len(LEXICON), size)
        self.start = nn.Parameter(torch.zeros(size))
        self.character_gates = nn.Linear(2 * size, 3 * size)
        self.word_gates = nn.Linear(2 * size, 3 * size)
        self.link = nn.Linear(2 * size, size)
        self.classify = nn.Linear(size, 2)

    def character(self, x, h):
        """What the character alone would give: its weight, a candidate, and the gate of the output."""
        i, o, u = self.character_gates(torch.cat([x, h], 1)).chunk(3, 1)
        return i.sigmoid().exp(), u.tanh(), o.sigmoid()

    def word(self, x, w, h, c):
        """What a word gives to its last character x: its weight, and its share of the memory."""
        i, f, u = self.word_gates(torch.cat([w, h], 1)).chunk(3, 1)
        c = f.sigmoid() * c + i.sigmoid() * u.tanh()
        weight = self.link(torch.cat([x, c], 1)).sigmoid().exp()
        return weight, weight * c

    def joined(self, i, u, o, weight, weighted_c):
        c = (i * u + weighted_c) / (i + weight)
        return o * c.tanh(), c

    def alone(self, i, u, o, c):
        c = (1 - i.log()) * c + i.log() * u
        return o * c.tanh(), c

    def loss(self, h, label):
        return cross_entropy(self.classify(h), label, reduction="none")


def words_that_end(text, end):
    """The words of the lexicon that end before `end`, with where they begin."""
    for begin in range(max(0, end - 3), end - 1):
        if (word := LEXICON.get(tuple(text[begin:end]))) is not None:
            yield begin, word


class Loop:
    """One call per character and word, each with one row."""

    def __init__(self, model):
        self.model = model

    def encode(self, text):
        model = self.model
        states = [(model.start.unsqueeze(0), model.start.unsqueeze(0))]
        for end, character in enumerate(text, 1):
            x = model.characters(torch.tensor([character]))
            h, c = states[-1]
            i, u, o = model.character(x, h)
            found = [model.word(x, model.words(torch.tensor([word])), *states[begin])
                     for begin, word in words_that_end(text, end)]
            if found:
                states.append(model.joined(i, u, o, sum(weight for weight, _ in found), sum(c for _, c in found)))
            else:
                states.append(model.alone(i, u, o, c))
        return states[-1][0]

    def loss(self, instances):
        losses = [self.model.loss(self.encode(text), torch.tensor([label])) for text, label in instances]
        return torch.cat(losses).mean()


class Batched:
    """The same code; what hand-written batching of lattices would have to line up is found."""

    def __init__(self, model):
        self.start = model.start
        self.characters, self.words = et.lookup(model.characters), et.lookup(model.words)
        self.character, self.word = et.cell(model.character), et.cell(model.word)
        self.joined, self.alone = et.cell(model.joined), et.cell(model.alone)
        self.text_loss = et.cell(model.loss)

    def encode(self, text):
        states = [(et.constant(self.start), et.constant(self.start))]
        for end, character in enumerate(text, 1):
            x = self.characters(character)
            h, c = states[-1]
            i, u, o = self.character(x, h)
            found = [self.word(x, self.words(word), *states[begin]) for begin, word in words_that_end(text, end)]
            if found:
                states.append(self.joined(i, u, o, et.sum([weight for weight, _ in found]),
                                          et.sum([c for _, c in found])))
            else:
                states.append(self.alone(i, u, o, c))
        return states[-1][0]

    def loss(self, instances):
        with et.batch() as b:
            return b.run(et.mean([self.text_loss(self.encode(text), et.constant(label)) for text, label in instances]))


def random_text(rng):
    """Characters, and whether the last word of the lexicon in them is one of the first three."""
    text = [rng.randrange(CHARACTERS)]
    while len(text) < rng.randint(8, 20):
        text += rng.choice(list(LEXICON)) if rng.random() < 0.5 else [rng.randrange(CHARACTERS)]
    last = [word for end in range(1, len(text) + 1) for _, word in words_that_end(text, end)]
    return text, int(bool(last) and last[-1] < 3)


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = Lattice()
    return train("lattice LSTM", model, Loop(model).loss, Batched(model).loss, [random_text(rng) for _ in range(256)])


if __name__ == "__main__":
    main()
