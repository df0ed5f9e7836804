"""Muon for the matrices inside the layers, Adam for the embedding and the norm gains."""

import torch

from ops import HALF


def orthogonalise(matrix):
    """The nearest matrix with all singular values near 1: five Newton-Schulz steps (Jordan et al., Muon, 2024)."""
    x = matrix
    wide = x.shape[0] <= x.shape[1]
    if not wide:
        x = x.t().contiguous()
    x = (x / (x.norm() + 1e-7)).to(HALF)
    for _ in range(5):
        a = x @ x.t()
        b = -4.7750 * a + 2.0315 * (a @ a)
        x = 3.4445 * x + b @ x
    return (x if wide else x.t()).float()


class Optimizer:
    """
    State and step over a Network's flat buffers, shared by the workers: each updates some of the tensors. All of it
    is saved in `state()` and read back by `load()`.
    """

    def __init__(self, network, workers=1, decay=0.05, momentum=0.98, betas=(0.95, 0.98), clip=1.0):
        self.network, self.decay, self.momentum, self.betas, self.clip = network, decay, momentum, betas, clip
        self.first = torch.zeros(network.count).share_memory_()
        self.second = torch.zeros(network.count).share_memory_()
        self.steps = 0
        self.parts = [set() for _ in range(workers)]
        loads = [0] * workers
        for name in sorted(network.weight, key=self._cost, reverse=True):
            least = loads.index(min(loads))
            self.parts[least].add(name)
            loads[least] += self._cost(name)

    def _is_matrix(self, name):
        return self.network.weight[name].dim() == 2 and "." in name

    def _cost(self, name):
        """Roughly, in multiplications."""
        weight = self.network.weight[name]
        return weight.numel() * (30 * min(weight.shape) if self._is_matrix(name) else 10)

    def state(self):
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def load(self, state):
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.steps = state["steps"]

    def step(self, gradient, norm, rate, worker):
        """This worker's part of a step. gradient is the flat mean of the step, and norm its length."""
        self.steps += 1
        scale = min(1.0, self.clip / (norm + 1e-9))
        net = self.network
        grads, firsts, seconds = net.views(gradient), net.views(self.first), net.views(self.second)
        for name in self.parts[worker]:
            weight, grad = net.weight[name], grads[name].mul_(scale)
            if self._is_matrix(name):
                self._muon(name, weight, grad, firsts[name], rate)
            else:
                self._adam(weight, grad, firsts[name], seconds[name], rate)

    def _muon(self, name, weight, gradient, momentum, rate):
        momentum.mul_(self.momentum).add_(gradient)
        update = gradient + self.momentum * momentum
        pieces = {"qkv": 3, "gate_up": 2}.get(name.split(".")[1], 1)
        weight.mul_(1 - rate * self.decay)
        for part, target in zip(update.chunk(pieces), weight.chunk(pieces)):
            # 0.2 sqrt(longer side) gives the update the size an Adam step would have (Liu et al., Moonlight, 2025).
            target.add_(orthogonalise(part), alpha=-rate * 0.2 * max(part.shape) ** 0.5)

    def _adam(self, weight, gradient, first, second, rate):
        b1, b2 = self.betas
        first.mul_(b1).add_(gradient, alpha=1 - b1)
        second.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        unbiased = (second / (1 - b2**self.steps)).sqrt_().add_(1e-8)
        weight.addcdiv_(first, unbiased, value=-rate / (1 - b1**self.steps))
