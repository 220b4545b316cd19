"""Message passing over molecules (Gilmer et al., 2017): states of atoms, messages along bonds, a sum."""

import random
from dataclasses import dataclass

import espalier.torch as et
import torch
from side_by_side import train
from torch import nn

CARBON, NITROGEN, OXYGEN, ATOMS = range(4)
SINGLE, DOUBLE, BONDS = range(3)
SIZE, ROUNDS = 16, 3


@dataclass
class Molecule:
    atoms: list[int]
    bonds: list[tuple[int, int, int]]  # two atoms, and a kind

    def neighbours(self):
        found = [[] for _ in self.atoms]
        for a, b, kind in self.bonds:
            found[a].append((b, kind))
            found[b].append((a, kind))
        return found


class MessagePassing(nn.Module):
    """Functions over rows of messages, atoms and molecules."""

    def __init__(self):
        super().__init__()
        self.atoms = nn.Embedding(ATOMS, SIZE)
        self.bonds = nn.Embedding(BONDS, SIZE)
        self.send = nn.Linear(2 * SIZE, SIZE)
        self.update = nn.GRUCell(SIZE, SIZE)
        self.read = nn.Linear(SIZE, 1)

    def message(self, h, bond):
        return torch.relu(self.send(torch.cat([h, bond], 1)))

    def loss(self, total, target):
        return (self.read(total).squeeze(1) - target).square()


class Loop:
    """One call per bond and atom, each with one row."""

    def __init__(self, model):
        self.model = model

    def encode(self, molecule):
        h = [self.model.atoms(torch.tensor([atom])) for atom in molecule.atoms]
        bonds = [self.model.bonds(torch.tensor([kind])) for kind in range(BONDS)]
        for _ in range(ROUNDS):
            messages = [sum(self.model.message(h[other], bonds[kind]) for other, kind in some)
                        for some in molecule.neighbours()]
            h = [self.model.update(message, state) for message, state in zip(messages, h)]
        return sum(h)

    def loss(self, instances):
        losses = [self.model.loss(self.encode(molecule), torch.tensor([target])) for molecule, target in instances]
        return torch.cat(losses).mean()


class Batched:
    """The same code; a round of all molecules runs together, however many atoms and bonds they have."""

    def __init__(self, model):
        self.atoms, self.bonds = et.lookup(model.atoms), et.lookup(model.bonds)
        self.message, self.update = et.cell(model.message), et.cell(model.update)
        self.molecule_loss = et.cell(model.loss)

    def encode(self, molecule):
        h = [self.atoms(atom) for atom in molecule.atoms]
        bonds = [self.bonds(kind) for kind in range(BONDS)]
        for _ in range(ROUNDS):
            messages = [et.sum([self.message(h[other], bonds[kind]) for other, kind in some])
                        for some in molecule.neighbours()]
            h = [self.update(message, state) for message, state in zip(messages, h)]
        return et.sum(h)

    def loss(self, instances):
        with et.batch() as b:
            return b.run(et.mean([self.molecule_loss(self.encode(molecule), et.constant(target))
                                  for molecule, target in instances]))


def random_molecule(rng):
    """A chain with branches, and sometimes a ring; the target is how many oxygens have a double bond."""
    atoms = [rng.choices([CARBON, NITROGEN, OXYGEN], [6, 2, 3])[0] for _ in range(rng.randint(4, 12))]
    bonds = [(rng.randrange(max(0, i - 3), i), i, rng.choice([SINGLE, SINGLE, DOUBLE])) for i in range(1, len(atoms))]
    if len(atoms) > 6 and rng.random() < 0.5:
        bonds.append((0, 6, SINGLE))
    doubly = {atom for a, b, kind in bonds if kind == DOUBLE for atom in (a, b)}
    return Molecule(atoms, bonds), float(sum(atoms[atom] == OXYGEN for atom in doubly))


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = MessagePassing()
    return train("molecules", model, Loop(model).loss, Batched(model).loss, [random_molecule(rng) for _ in range(256)])


if __name__ == "__main__":
    main()
