"""
Checks the hand-written gradients against plain torch, and prints training speed.
  python3 check.py [vocabulary,width,layers,heads,feed_forward]
"""

import sys
import time

import torch

from model import TAG_ASKED, TAG_OTHER, Network, Shape
from vocabulary import MARKS, Vocabulary

torch.set_num_threads(1)


def check_gradients():
    torch.manual_seed(0)
    vocabulary = Vocabulary(torch.arange(512) // 3 * 3, torch.rand(512, MARKS).round(), torch.randn(512, 10))
    network = Network(Shape(512, 64, 3, 2, 96, head=32), vocabulary, kind=torch.float32)
    network.weight["stems"].normal_(0, 0.5)
    network.refresh()
    ids = torch.randint(0, 512, (3, 64))
    prompts = torch.tensor([1, 23, 64])
    positions = torch.randperm(192)[:50].sort()[0]
    target, weight = torch.randint(0, 512, (50,)), torch.rand(50)
    _, gradient = network.gradient_buffer()
    tagged, asked = torch.randperm(192)[:20].sort()[0], torch.randint(0, 2, (20,)).float()
    tag = ids.reshape(-1)[torch.randperm(192)[:20]]
    found = network.add_gradients(ids, prompts, positions, target, weight, gradient, (tagged, tag, asked))
    loss = found[0] + found[2]
    network.spread(gradient)
    for w in network.weight.values():
        w.requires_grad_()
    parts = [network.weight[name] for name in ("stems", "marks", "words")]
    network.embedding = parts[0][vocabulary.stem] + vocabulary.marks @ parts[1] + vocabulary.words @ parts[2]
    logits, read = network.logits(ids, prompts, with_tags=True)
    each = torch.nn.functional.cross_entropy(logits.reshape(-1, 512)[positions], target, reduction="none")
    names = torch.zeros(512, dtype=torch.bool)
    names[torch.cat([ids.reshape(-1), target, tag])] = True
    read = read.reshape(-1, 512)[tagged].masked_fill(~names, float("-inf"))
    tag_weight = torch.where(asked > 0, TAG_ASKED, TAG_OTHER)
    each_tag = torch.nn.functional.cross_entropy(read, tag, reduction="none")
    expected = (each * weight).sum() + (each_tag * tag_weight).sum()
    expected.backward()
    assert abs(loss - expected.item()) < 1e-3 * abs(loss), (loss, expected.item())
    for name, w in network.weight.items():
        error = ((gradient[name] - w.grad).norm() / w.grad.norm()).item()
        assert error < 1e-3, f"{name}: relative error {error}"
    print("gradients agree")


def measure(shape, rows=2048, t=256):
    size = shape.vocabulary
    vocabulary = Vocabulary(torch.arange(size), torch.zeros(size, MARKS), torch.zeros(size, 100))
    network = Network(shape, vocabulary)
    _, gradient = network.gradient_buffer()
    ids = torch.randint(0, size // 10, (rows // t, t))
    prompts = torch.full((rows // t,), t * 2 // 3)
    positions = torch.arange(0, rows, 3)
    target = torch.randint(0, size // 10, positions.shape)
    weight = torch.ones(len(positions))
    started = time.process_time()
    for i in range(6):
        if i == 1:
            started = time.process_time()
        network.add_gradients(ids, prompts, positions, target, weight, gradient)
    speed = 5 * rows / (time.process_time() - started)
    print(f"{network.count / 1e6:.2f} M parameters, {rows} x {t}: {speed:.0f} tokens per CPU second")


if __name__ == "__main__":
    check_gradients()
    sizes = (sys.argv[1] if len(sys.argv) > 1 else "21312,224,6,4,576").split(",")
    for rows in (1024, 2048, 4096):
        measure(Shape(*map(int, sizes)), rows)
