"""What processes of other tests run: at the top of a module, so that they can be sent to them."""

import os

import espalier.torch as et
import torch
import torch.distributed as dist


class Chains(torch.nn.Module):
    """Sums over chains of different lengths; the loss is computed inside of forward()."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.words = et.lookup(torch.nn.Embedding(10, 4))
        self.step = et.cell(torch.nn.GRUCell(4, 4))

    def state(self, words):
        h = et.constant(torch.zeros(4))
        for word in words:
            h = self.step(self.words(word), h)
        return h

    def forward(self, sentences):
        with et.batch() as b:
            return b.run(et.mean([self.state(words).square().sum() for words in sentences]))


SENTENCES = [[1, 2, 3], [4], [5, 6], [7, 8, 9, 0], [1, 1], [2], [3, 4, 5], [6]]


def train_part(rank, world, folder):
    """One process of data-parallel training; leaves its weights after two updates in the folder."""
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world)
    model = torch.nn.parallel.DistributedDataParallel(Chains())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        model(SENTENCES[rank::world]).backward()
        optimizer.step()
    torch.save(model.module.state_dict(), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return len(SENTENCES)

    def __getitem__(self, i):
        return SENTENCES[i]
