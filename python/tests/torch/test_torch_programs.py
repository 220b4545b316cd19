"""Batched code computes what the same code computes in plain PyTorch: values and gradients of random programs."""

import os

import espalier.torch as et
import pytest
import torch
from programs import Net, Plain, Program, Recorded, wide_program

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

    def recorded_by(self, batch):
        self.recorded.batch = batch
        return self.recorded

    def by_plain(self, seed):
        loss, value = Program(seed, self.plain, self.net, self.inputs).run()
        return loss, value, self.gradients(loss)

    def by(self, seed, batch):
        with batch:
            loss, value = batch.run(*Program(seed, self.recorded_by(batch), self.net, self.inputs).run())
        return loss, value, self.gradients(loss)


def differences(expected, got):
    """The largest difference, relative to the largest magnitude of each tensor. No gradient is one of zeros."""
    worst = 0.0
    for one, other in zip(expected, got, strict=True):
        if one is None and other is None:
            continue
        one = torch.zeros_like(other) if one is None else one.detach()
        other = torch.zeros_like(one) if other is None else other.detach()
        assert one.shape == other.shape and one.dtype == other.dtype
        if one.numel():
            worst = max(worst, float((one - other).abs().max() / one.abs().max().clamp(min=1)))
    return worst


def compare(fixture, seed, batch):
    loss, value, gradients = fixture.by_plain(seed)
    batched_loss, batched_value, batched_gradients = fixture.by(seed, batch)
    return differences([loss, value, *gradients], [batched_loss, batched_value, *batched_gradients])


@pytest.mark.parametrize("part", range(10))
def test_random_programs_equal_unbatched_pytorch(part):
    fixture = Fixture()
    for seed in range(part, PROGRAMS, 10):
        batch = et.batch(STRATEGIES[seed % 20] if seed % 20 < 4 else "frontier")
        difference = compare(fixture, seed, batch)
        assert difference <= TOLERANCE, f"program {seed} by {batch.strategy}: {difference}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_wide_programs_equal_unbatched_pytorch(strategy):
    fixture = Fixture()
    for seed in range(20):
        loss, value = wide_program(fixture.plain, fixture.net, fixture.inputs, seed)
        with et.batch(strategy) as b:
            got = b.run(*wide_program(fixture.recorded_by(b), fixture.net, fixture.inputs, seed))
        expected = [loss, value, *fixture.gradients(loss)]
        assert differences(expected, [*got, *fixture.gradients(got[0])]) <= TOLERANCE, f"program {seed}"


def test_unbatched_equals_plain_pytorch_too():
    fixture = Fixture()
    for seed in range(100):
        assert compare(fixture, seed, et.unbatched()) <= TOLERANCE, f"program {seed}"


def test_the_comparison_sees_a_wrong_gradient():
    fixture = Fixture()
    right = fixture.net.affine
    fixture.recorded.cells["affine"] = et.cell(lambda x: right(x) + 1e-6 * (x - x.detach()))
    assert any(compare(fixture, seed, et.batch()) > TOLERANCE for seed in range(20))
