"""A shift-reduce parser: which action comes next depends on scores, so values are needed midway.

Each token has a strength. The parser learns to reduce the two topmost items of the stack while the next token is not
stronger than the top. In training, actions are known. In parsing, each sentence waits for the scores of its own state:
`et.run_batched` computes the scores of all sentences that wait in one run.
"""

import random

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn
from torch.nn.functional import cross_entropy

STRENGTHS, SIZE = 5, 16
END = STRENGTHS  # the token behind the last one
SHIFT, REDUCE = 0, 1


class Parser(nn.Module):
    """Functions over rows of parser states."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(STRENGTHS + 1, SIZE)
        self.join = nn.Linear(2 * SIZE, SIZE)
        self.hidden = nn.Linear(3 * SIZE, SIZE)
        self.action = nn.Linear(SIZE, 2)

    def reduced(self, below, top):
        return torch.tanh(self.join(torch.cat([below, top], 1)))

    def scores(self, below, top, following):
        return self.action(torch.relu(self.hidden(torch.cat([below, top, following], 1))))

    def loss(self, scores, action):
        return cross_entropy(scores, action, reduction="none")


class State:
    """The stack and the tokens that are left. Items of the stack are whatever `look_up` and `reduced` give."""

    def __init__(self, sentence, look_up, reduced):
        self.items = [look_up(token) for token in [*sentence, END]]
        self.reduced = reduced
        self.next = 2
        self.stack = self.items[:2]

    def parts(self):
        return self.stack[-2], self.stack[-1], self.items[self.next]

    def must(self):
        """The only action that is possible, or None."""
        if len(self.stack) < 2:
            return SHIFT
        return REDUCE if self.next == len(self.items) - 1 else None

    def done(self):
        return len(self.stack) == 1 and self.next == len(self.items) - 1

    def apply(self, action):
        if action == SHIFT:
            self.stack.append(self.items[self.next])
            self.next += 1
        else:
            top, below = self.stack.pop(), self.stack.pop()
            self.stack.append(self.reduced(below, top))


class Loop:
    """One call per action, each with one row."""

    def __init__(self, model):
        self.model = model

    def state(self, sentence):
        return State(sentence, lambda token: self.model.tokens(torch.tensor([token])), self.model.reduced)

    def loss(self, instances):
        losses = []
        for sentence, actions in instances:
            state = self.state(sentence)
            for action in actions:
                if state.must() is None:
                    losses.append(self.model.loss(self.model.scores(*state.parts()), torch.tensor([action])))
                state.apply(action)
        return torch.cat(losses).mean()

    def parse(self, sentences):
        return [self.parse_one(sentence) for sentence in sentences]

    def parse_one(self, sentence):
        state, actions = self.state(sentence), []
        while not state.done():
            action = state.must()
            if action is None:
                action = int(self.model.scores(*state.parts()).argmax())
            actions.append(action)
            state.apply(action)
        return actions


class Batched:
    """The same code; a sentence that needs a number yields, and gets it."""

    def __init__(self, model):
        self.tokens = et.lookup(model.tokens)
        self.reduced, self.scores, self.action_loss = et.cell(model.reduced), et.cell(model.scores), et.cell(model.loss)

    def state(self, sentence):
        return State(sentence, self.tokens, self.reduced)

    def loss(self, instances):
        losses = []
        with et.batch() as b:
            for sentence, actions in instances:
                state = self.state(sentence)
                for action in actions:
                    if state.must() is None:
                        losses.append(self.action_loss(self.scores(*state.parts()), et.constant(action)))
                    state.apply(action)
            return b.run(et.mean(losses))

    def parse(self, sentences):
        return et.run_batched(self.parse_one, sentences)

    def parse_one(self, sentence):
        state, actions = self.state(sentence), []
        while not state.done():
            action = state.must()
            if action is None:
                action = int((yield self.scores(*state.parts())).argmax())
            actions.append(action)
            state.apply(action)
        return actions


def random_sentence(rng):
    """Tokens, and the right actions: the strength of an item is that of its strongest token."""
    sentence = [rng.randrange(STRENGTHS) for _ in range(rng.randint(2, 12))]
    state, actions = State(sentence, lambda token: token, max), []
    while not state.done():
        action = state.must()
        if action is None:
            _, top, following = state.parts()
            action = REDUCE if following <= top else SHIFT
        actions.append(action)
        state.apply(action)
    return sentence, actions


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = Parser()
    loop, batched = Loop(model), Batched(model)
    losses = train("parser", model, loop.loss, batched.loss, [random_sentence(rng) for _ in range(256)])
    unseen = [random_sentence(rng) for _ in range(64)]
    with torch.no_grad():
        parsed = batched.parse([sentence for sentence, _ in unseen])
        assert parsed == loop.parse([sentence for sentence, _ in unseen])
    right = sum(actions == expected for actions, (_, expected) in zip(parsed, unseen))
    print(f"parser: {right} of {len(unseen)} unseen sentences are parsed without an error")
    return losses


if __name__ == "__main__":
    main()
