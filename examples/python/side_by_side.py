"""What the examples of espalier.torch share: training with batches, and comparing them with the loop they replace."""

import time

import torch


def seconds(loss_of, instances):
    """For the loss and its gradients, the shortest of three times."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        loss_of(instances).backward()
        times.append(time.perf_counter() - began)
    return min(times)


def check_equal(model, loop_loss, batched_loss, instances):
    """The loop and the batch give the same loss and the same gradients."""
    found = []
    for loss_of in (loop_loss, batched_loss):
        model.zero_grad()
        loss = loss_of(instances)
        loss.backward()
        found.append((loss.detach(), {name: weight.grad for name, weight in model.named_parameters()}))
    (loss, gradients), (batched, batched_gradients) = found
    torch.testing.assert_close(batched, loss)
    torch.testing.assert_close(batched_gradients, gradients, rtol=1e-4, atol=1e-5)
    model.zero_grad()


def train(name, model, loop_loss, batched_loss, instances, *, batch=32, epochs=20, learning_rate=0.01):
    """Trains on mean losses of batches. Returns the mean loss of the first and of the last epoch."""
    batches = [instances[i : i + batch] for i in range(0, len(instances), batch)]
    check_equal(model, loop_loss, batched_loss, batches[0])
    loop, batched = seconds(loop_loss, batches[1]), seconds(batched_loss, batches[1])
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    means = []
    for _ in range(epochs):
        total = 0.0
        for some in batches:
            optimizer.zero_grad()
            loss = batched_loss(some)
            loss.backward()
            optimizer.step()
            total += loss.item()
        means.append(total / len(batches))
    print(f"{name}: loss {means[0]:.3f} -> {means[-1]:.3f}; the loop takes {loop / batched:.1f} times as long")
    return means[0], means[-1]
