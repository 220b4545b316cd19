"""A Tree-LSTM over dicts learns which phrases are praise, as blocks; first_program.py is the same in plain code."""

import espalier as esp
from espalier import blocks as b

GOOD, BAD, NOT, VERY = ({"word": word} for word in ("good", "bad", "not", "very"))
DATA = [
    {"tree": GOOD, "praise": 1},
    {"tree": BAD, "praise": 0},
    {"tree": {"left": NOT, "right": GOOD}, "praise": 0},
    {"tree": {"left": NOT, "right": BAD}, "praise": 1},
    {"tree": {"left": NOT, "right": {"left": VERY, "right": BAD}}, "praise": 1},
]

model = esp.Model()
words = esp.nn.Embedding(model / "words", 4, 16)
cell = esp.nn.BinaryTreeLstm(model / "cell", 16, 32)
classify = esp.nn.Linear(model / "classify", 32, 2)

tree = b.Forward("tree")
leaf = b.get("word") >> b.lookup(["good", "bad", "not", "very"]) >> b.embedding(words) >> cell.leaf
pair = b.record({"left": tree(), "right": tree()}) >> cell
tree.resolve_to(b.one_of(lambda t: "word" in t, {True: leaf, False: pair}))
scores = tree() >> b.get(0) >> classify

praise = b.record({"tree": scores, "praise": b.identity()})
losses = b.Program(praise >> esp.cross_entropy >> b.loss("praise"))
adam = esp.optim.Adam(model, learning_rate=0.01)
for _ in range(100):
    with esp.Graph():
        loss = losses.loss(DATA)
        loss.backward()  # runs all trees together, forward and backward
        adam.step()

answers = b.Program(scores)
unseen = {"left": VERY, "right": {"left": VERY, "right": GOOD}}
print(f"loss {loss.scalar():.4f}; very, very good: {answers.eval(unseen).output.argmax()}")
assert loss.scalar() < 0.05
