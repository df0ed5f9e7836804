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
    """State and step over a Network's flat buffers. All of it is saved in `state()` and read back by `load()`."""

    def __init__(self, network, decay=0.05, momentum=0.98, betas=(0.95, 0.98), clip=1.0):
        self.network, self.decay, self.momentum, self.betas, self.clip = network, decay, momentum, betas, clip
        self.first = torch.zeros(network.count)
        self.second = torch.zeros(network.count)
        self.steps = 0

    def state(self):
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def load(self, state):
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.steps = state["steps"]

    def step(self, gradient, rate):
        """gradient is the flat sum for this step (scaled to a mean by the caller); returns its norm."""
        self.steps += 1
        norm = gradient.norm().item()
        gradient *= min(1.0, self.clip / (norm + 1e-9))
        net = self.network
        grads, firsts, seconds = net.views(gradient), net.views(self.first), net.views(self.second)
        for name, weight in net.weight.items():
            if weight.dim() == 2 and name != "embedding":
                self._muon(name, weight, grads[name], firsts[name], rate)
            else:
                self._adam(weight, grads[name], firsts[name], seconds[name], rate)
        return norm

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
