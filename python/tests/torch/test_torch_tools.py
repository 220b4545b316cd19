"""PyTorch's own tools around batches: compile, DataLoader, activation checkpointing, data-parallel training."""

import espalier.torch as et
import pytest
import torch
import workers
from torch.utils.checkpoint import checkpoint


def gradients(model, loss):
    loss.backward()
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    return found


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(torch.as_tensor(one[name]), torch.as_tensor(other[name]))


def test_a_data_loader_gives_instances():
    loader = torch.utils.data.DataLoader(workers.Sentences(), batch_size=3, collate_fn=list, num_workers=1)
    model = workers.Chains()
    losses = [model(sentences).item() for sentences in loader]
    assert losses == [model(workers.SENTENCES[i : i + 3]).item() for i in (0, 3, 6)]


def test_a_cell_can_be_checkpointed_and_so_can_a_batch():
    model = workers.Chains()
    expected = gradients(model, model(workers.SENTENCES))
    assert_same(expected, gradients(model, checkpoint(model, workers.SENTENCES, use_reentrant=False)))
    module = model.step.module
    runs = []

    def counted(x, h):
        runs.append(len(x))
        return module(x, h)

    model.__dict__["step"] = et.cell(lambda x, h: checkpoint(counted, x, h, use_reentrant=False))
    del model._modules["step"]
    model.add_module("kept", module)
    found = gradients(model, model(workers.SENTENCES))
    assert_same(expected, {name.replace("kept", "step"): gradient for name, gradient in found.items()})
    assert len(runs) == 1 + 2 * 4  # for the shapes; then four steps, forward and again backward


def test_cells_can_be_compiled():
    model = workers.Chains()
    expected = model(workers.SENTENCES)
    compiled = []

    def backend(graph, _):
        compiled.append(graph)
        return graph.forward

    model.step = et.cell(torch.compile(model.step.module, backend=backend, dynamic=True))
    torch.testing.assert_close(model(workers.SENTENCES), expected)
    assert model.step.cell_name == "GRUCell"
    double = et.cell(torch.compile(lambda x: 2 * x, backend=backend, dynamic=True), name="double")
    with et.batch():
        values = [double(et.constant(float(i))) for i in range(3)]
    assert [value.item() for value in values] == [0, 2, 4]
    assert compiled


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no distributed training")
def test_data_parallel_training_is_training_on_all(tmp_path):
    torch.multiprocessing.spawn(workers.train_part, (2, tmp_path), nprocs=2)  # ends all if one fails
    model = workers.Chains()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        model(workers.SENTENCES).backward()
        optimizer.step()
    for rank in range(2):
        assert_same(torch.load(tmp_path / f"{rank}.pt"), model.state_dict())
