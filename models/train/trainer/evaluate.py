"""
Loss and accuracy of weights on one shard that was never trained on.
  python3 evaluate.py SHARD SHAPE VOCABULARY WEIGHTS.f32 ...
"""

import sys

import torch

from batches import Shard
from model import Network, Shape
from train import read_weights
from vocabulary import read_vocabulary

torch.set_num_threads(1)


@torch.no_grad()
def evaluate(network, shard):
    """Sums over the answers: weighted loss, weight, and by weight class hits and tokens."""
    loss, total, classes = 0.0, 0.0, {}
    for group in shard.plan(0):
        ids, prompts, positions, targets, weights = shard.tensors(group)
        logits = network.logits(ids, prompts).reshape(-1, network.shape.vocabulary)[positions]
        each = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
        loss += (each * weights).sum().item()
        total += weights.sum().item()
        hit = logits.argmax(-1) == targets
        for weight in weights.unique().tolist():
            mine = weights == weight
            right, count, sum_ = classes.get(weight, (0, 0, 0.0))
            classes[weight] = (
                right + hit[mine].sum().item(), count + mine.sum().item(), sum_ + each[mine].sum().item()
            )
    return loss / total, classes


if __name__ == "__main__":
    shard = Shard(sys.argv[1])
    sizes = list(map(int, sys.argv[2].split(",")))
    vocabulary = read_vocabulary(sys.argv[3], sizes[0])
    for path in sys.argv[4:]:
        network = Network(Shape(*sizes), vocabulary)
        network.take(read_weights(path))
        loss, classes = evaluate(network, shard)
        parts = [f"{w:.1f}: {h / n:.4f} ({s / n:.3f})" for w, (h, n, s) in sorted(classes.items())]
        print(f"{path}: loss {loss:.4f}; accuracy (loss) by weight {', '.join(parts)}")
