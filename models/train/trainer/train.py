"""
Trains the network by steps. Resumable: kill it at any time and start the same command again.

  python3 train.py --run FOLDER --shards FOLDER --generator "bun shards.ts ..." --shape 21312,224,6,4,576 \
    --vocabulary FILE --steps 6000

Writes FOLDER/state.pt (weights, optimizer, position in the data) and FOLDER/weights.f32 for export.ts, both every few
minutes and replaced whole, and FOLDER/log.jsonl (one line per report).
"""

import argparse
import json
import os
import sys
import time

import numpy as np
import torch
import torch.multiprocessing as mp

from batches import ShardStore
from model import Network, Shape
from optimizer import Optimizer
from other_words import OtherWords
from vocabulary import read_vocabulary

torch.set_num_threads(1)


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--run", required=True)
    p.add_argument("--shards", required=True)
    p.add_argument("--generator", required=True)
    p.add_argument("--shape", required=True, help="vocabulary,width,layers,heads,feed_forward")
    p.add_argument("--steps", type=int, required=True)
    p.add_argument("--batch", type=int, default=16384, help="positions per step")
    p.add_argument("--rate", type=float, default=3e-3)
    p.add_argument("--warmup", type=int, default=100)
    p.add_argument("--decay", type=float, default=0.4, help="share of the run with falling rate, at the end")
    p.add_argument("--until", type=float, default=0.0, help="seconds since 1970 at which to end, if the steps do not")
    p.add_argument("--vocabulary", required=True, help="written by generator/vocabulary.ts")
    p.add_argument("--start", default="", help="weights of another run or model to begin from")
    p.add_argument("--first-shard", type=int, default=0)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--report", type=int, default=25)
    p.add_argument("--save-seconds", type=int, default=180)
    return p.parse_args()


def left(step, started, o):
    """Share of the run that is left: by steps, or by the clock where that ends sooner."""
    by_steps = 1 - step / o.steps
    by_clock = (o.until - time.time()) / (o.until - started) if o.until else 1.0
    return max(0.0, min(by_steps, by_clock))


def rate_at(step, started, o):
    falling = left(step, started, o) / o.decay if o.decay else 1.0
    return o.rate * min(1.0, (step + 1) / o.warmup, falling)


class Feed:
    """Micro-batches in a fixed order, by position (shard, index in its plan)."""

    def __init__(self, store, options, shard, index):
        self.store, self.options, self.number, self.index, self.shard = store, options, shard, index, None

    def step(self, size):
        """The (shard, group) pairs of one step: micro-batches up to `size` positions."""
        out, cells = [], 0
        while cells < size:
            if self.shard is None:
                self.shard = self.store.get(self.number)
                self.plan = self.shard.plan(self.options.seed * 1_000_003 + self.number)
                self.store.start(self.number + 1)
            if self.index >= len(self.plan):
                self.number, self.index, self.shard = self.number + 1, 0, None
                continue
            group = self.plan[self.index]
            longest = max(int(self.shard.offsets[i + 1] - self.shard.offsets[i]) for i in group)
            cells += longest * len(group)
            out.append((self.shard, group))
            self.index += 1
        return out, cells


class Crew:
    """
    Worker processes that share the weights. Each claims the next micro-batch of the step until none is left, then
    sums a stretch of the gradients, then updates its part of the tensors.
    """

    def __init__(self, network, optimizer, feed, other_words, options):
        self.network, self.optimizer, self.feed, self.options = network, optimizer, feed, options
        self.other_words = other_words
        self.rate = mp.Value("d", 0.0)
        self.squares = torch.zeros(options.workers, dtype=torch.float64).share_memory_()
        self.next = mp.Value("l", 0)
        self.gradients = [network.gradient_buffer() for _ in range(options.workers)]
        self.sums = torch.zeros(options.workers, 7, dtype=torch.float64).share_memory_()
        self.barrier = mp.Barrier(options.workers)

    def work(self, worker):
        """This worker's share of the next step; returns (positions in the whole step, norm of its gradient)."""
        cells = self._add_gradients(worker)
        self.barrier.wait()
        norm = self._sum_gradients(worker)
        self.optimizer.step(self.gradients[0][0], norm, self.rate.value, worker)
        self.barrier.wait()
        if worker == 0:
            self.network.refresh()
        return cells, norm

    def _add_gradients(self, worker):
        groups, cells = self.feed.step(self.options.batch)
        flat, views = self.gradients[worker]
        flat.zero_()
        while True:
            with self.next.get_lock():
                i = self.next.value
                self.next.value += 1
            if i >= len(groups):
                break
            shard, group = groups[i]
            ids, prompts, positions, targets, weights = shard.tensors(group, self.other_words)
            tags = shard.tags(group, ids.shape[1])
            found = self.network.add_gradients(ids, prompts, positions, targets, weights, views, tags)
            counts = [float(weights.sum()), len(targets), len(tags[0])]
            self.sums[worker] += torch.tensor([*found, *counts], dtype=torch.float64)
        self.network.spread(views)
        return cells

    def _sum_gradients(self, worker):
        """The gradient of the step as a weighted mean, in the first worker's buffer; returns its norm."""
        size = -(-self.network.count // self.options.workers)
        stretch = slice(worker * size, (worker + 1) * size)
        total = self.gradients[0][0][stretch]
        for flat, _ in self.gradients[1:]:
            total += flat[stretch]
        total /= self.sums[:, 4].sum().item()
        self.squares[worker] = total.double().square().sum()
        self.barrier.wait()
        return self.squares.sum().item() ** 0.5

    def serve(self, worker, parent):
        torch.set_num_threads(1)
        self.feed.store.makes = False
        while os.getppid() == parent:
            self.barrier.wait()
            self.work(worker)
            self.barrier.wait()

    def run_step(self, rate):
        """(loss, accuracy, accuracy of the tags, positions, norm of the gradient) of one step."""
        self.next.value, self.rate.value = 0, rate
        self.sums.zero_()
        self.barrier.wait()
        cells, norm = self.work(0)
        self.barrier.wait()
        loss, hits, _, tag_hits, weight, count, tags = self.sums.sum(0).tolist()
        return loss / weight, hits / count, tag_hits / max(1.0, tags), cells, norm


def read_weights(path):
    """Of a run, or of a model (generator/import.ts)."""
    return torch.from_numpy(np.fromfile(path, dtype=np.float32))


def save(path, network, optimizer, feed, step, tokens, started, options):
    state = {
        "flat": network.flat.clone(), "optimizer": optimizer.state(), "shard": feed.number, "index": feed.index,
        "step": step, "tokens": tokens, "started": started, "shape": options.shape,
    }
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)  # A kill before this line leaves the former state whole.
    weights = os.path.join(os.path.dirname(path), "weights.f32")
    network.finished().numpy().tofile(weights + ".part")
    os.replace(weights + ".part", weights)


def main():
    o = arguments()
    os.makedirs(o.run, exist_ok=True)
    os.makedirs(o.shards, exist_ok=True)
    vocabulary, width, layers, heads, feed_forward = map(int, o.shape.split(","))
    shape = Shape(vocabulary, width, layers, heads, feed_forward)
    network = Network(shape, read_vocabulary(o.vocabulary, vocabulary), o.seed)
    optimizer = Optimizer(network, o.workers)
    path, step, tokens, shard, index = os.path.join(o.run, "state.pt"), 0, 0, o.first_shard, 0
    started = time.time()
    if os.path.exists(path):
        state = torch.load(path)
        assert state["shape"] == o.shape, "the saved state has another shape"
        network.flat.copy_(state["flat"])
        network.refresh()
        optimizer.load(state["optimizer"])
        step, tokens, shard, index = state["step"], state["tokens"], state["shard"], state["index"]
        started = state["started"]
    elif o.start:
        network.take(read_weights(o.start))
    store = ShardStore(o.shards, o.generator.split())
    counts = np.bincount(store.get(o.first_shard).tokens, minlength=vocabulary)
    feed = Feed(store, o, shard, index)
    crew = Crew(network, optimizer, feed, OtherWords(network.vocabulary, counts), o)
    for worker in range(1, o.workers):
        process = mp.get_context("fork").Process(target=crew.serve, args=(worker, os.getpid()), daemon=True)
        process.start()
    log = open(os.path.join(o.run, "log.jsonl"), "a")
    losses, hits, tags, steps, since, seen, saved = 0.0, 0.0, 0.0, 0, time.time(), 0, time.time()
    while (share := left(step, started, o)) > 0:
        loss, accuracy, tag_accuracy, cells, norm = crew.run_step(rate_at(step, started, o))
        step, tokens, seen, steps = step + 1, tokens + cells, seen + cells, steps + 1
        losses, hits, tags = losses + loss, hits + accuracy, tags + tag_accuracy
        if step % o.report == 0:
            line = {
                "step": step, "tokens": tokens, "loss": round(losses / steps, 4),
                "accuracy": round(hits / steps, 4), "tags": round(tags / steps, 4),
                "rate": round(rate_at(step, started, o), 6), "norm": round(norm, 3),
                "tokens_per_s": round(seen / (time.time() - since)), "shard": feed.number,
            }
            print(json.dumps(line), file=log, flush=True)
            sys.stderr.write(f"\r{1 - share:.1%} {line}   ")
            losses, hits, tags, steps, seen, since = 0.0, 0.0, 0.0, 0, 0, time.time()
        if time.time() - saved > o.save_seconds:
            save(path, network, optimizer, feed, step, tokens, started, o)
            saved = time.time()
    save(path, network, optimizer, feed, step, tokens, started, o)
    sys.stderr.write("\ndone\n")


if __name__ == "__main__":
    main()
