"""Batched code computes what the same code computes in plain PyTorch: values and gradients of random programs."""

import os

import espalier.torch as et
import pytest
import torch
from programs import Net, Plain, Program, Recorded

PROGRAMS = int(os.environ.get("ESPALIER_TORCH_PROGRAMS", "10000"))
STRATEGIES = ("frontier", "agenda", "depth", "none")
TOLERANCE = 1e-10


@pytest.fixture(autouse=True)
def in_double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


class Fixture:
    """A net, inputs that want gradients, and the two ways to run programs over them."""

    def __init__(self):
        torch.manual_seed(1)
        self.net = Net()
        self.inputs = [torch.randn(4, requires_grad=True) for _ in range(3)]
        self.leaves = [*self.net.parameters(), *self.inputs]
        self.plain = Plain(self.net)
        self.recorded = Recorded(self.net, None)

    def gradients(self, loss):
        # Some programs end in numbers that depend on constants alone.
        if not loss.requires_grad:
            return [None] * len(self.leaves)
        return torch.autograd.grad(loss, self.leaves, allow_unused=True)

    def by_plain(self, seed):
        loss, value = Program(seed, self.plain, self.net, self.inputs).run()
        return loss, value, self.gradients(loss)

    def by(self, seed, batch):
        self.recorded.batch = batch
        with batch:
            loss, value = batch.run(*Program(seed, self.recorded, self.net, self.inputs).run())
        return loss, value, self.gradients(loss)


def differences(expected, got):
    """The largest difference, relative to the largest magnitude of each tensor; None is zeros."""
    worst = 0.0
    for a, b in zip(expected, got):
        if a is None or b is None:
            a = torch.zeros_like(b if a is None else a) if a is None else a
            b = torch.zeros_like(a) if b is None else b
        if a is not None and a.numel():
            assert a.shape == b.shape and a.dtype == b.dtype
            worst = max(worst, float((a - b).detach().abs().max() / a.detach().abs().max().clamp(min=1)))
    return worst


def compare(fixture, seed, batch):
    loss, value, gradients = fixture.by_plain(seed)
    batched_loss, batched_value, batched_gradients = fixture.by(seed, batch)
    pairs = [(a, b) for a, b in zip(gradients, batched_gradients) if a is not None or b is not None]
    return differences([loss, value, *(a for a, _ in pairs)], [batched_loss, batched_value, *(b for _, b in pairs)])


@pytest.mark.parametrize("part", range(10))
def test_random_programs_equal_unbatched_pytorch(part):
    fixture = Fixture()
    for seed in range(part, PROGRAMS, 10):
        batch = et.batch(STRATEGIES[seed % 20] if seed % 20 < 4 else "frontier")
        difference = compare(fixture, seed, batch)
        assert difference <= TOLERANCE, f"program {seed} by {batch.strategy}: {difference}"


def test_unbatched_equals_plain_pytorch_too():
    fixture = Fixture()
    for seed in range(100):
        assert compare(fixture, seed, et.unbatched()) <= TOLERANCE, f"program {seed}"


def test_the_comparison_sees_a_wrong_gradient():
    fixture = Fixture()
    right = fixture.net.affine
    fixture.recorded.cells["affine"] = et.cell(lambda x: right(x) + 1e-6 * (x - x.detach()))
    assert any(compare(fixture, seed, et.batch()) > TOLERANCE for seed in range(20))
