"""Reads shards (written by shards.ts) and plans micro-batches; the plan depends on the shard number alone."""

import os
import random
import subprocess
import time

import numpy as np
import torch

from arrays import read_arrays

# Positions in one micro-batch, padding included: several for each worker in a step of 8,192. With AVX-512 one worker
# alone is faster with 3,072 (measured); two have not been compared there.
CELLS = 1024


class Shard:
    """
    tokens u16, weights u8 (0 = prompt), offsets u32 [samples + 1], answers u32 (index of the first answer token);
    of tags (generator/tags.ts) tag_at u16 (index in the sample), tag_token u16, tag_asked u8, tag_offsets u32.
    """

    def __init__(self, path):
        header, arrays = read_arrays(path)
        self.samples, self.tasks, self.weight_scale = header["samples"], header["tasks"], header["weight_scale"]
        for name, values in arrays.items():
            setattr(self, name, values)

    def plan(self, seed):
        """Lists of sample numbers of similar length, each list one micro-batch."""
        rng = random.Random(seed)
        length = np.diff(self.offsets.astype(np.int64))
        order = sorted(range(self.samples), key=lambda i: length[i] + rng.random() * 4)
        batches, at = [], 0
        while at < len(order):
            t = padded(length[order[min(at + CELLS // 64, len(order) - 1)]])
            group = order[at : at + max(1, CELLS // t)]
            while len(group) > 1 and padded(max(length[i] for i in group)) * len(group) > CELLS + 256:
                group.pop()
            batches.append(group)
            at += len(group)
        rng.shuffle(batches)
        return batches

    def tags(self, group, t):
        """(flat positions in ids [n, t], targets, whether they are asked for) of what stands in the prompts."""
        at, token, asked = [], [], []
        for row, i in enumerate(group):
            mine = slice(int(self.tag_offsets[i]), int(self.tag_offsets[i + 1]))
            at.append(self.tag_at[mine].astype(np.int64) + row * t)
            token.append(self.tag_token[mine].astype(np.int64))
            asked.append(self.tag_asked[mine].astype(np.float32))
        return tuple(torch.from_numpy(np.concatenate(x)) for x in (at, token, asked))

    def tensors(self, group, other_words=None):
        """(ids [n, t], lengths of the prompts [n], flat positions, targets, weights), with OtherWords or as written."""
        length = [int(self.offsets[i + 1] - self.offsets[i]) for i in group]
        t = padded(max(length))
        ids = np.zeros((len(group), t), np.int64)
        positions, targets, weights = [], [], []
        for row, i in enumerate(group):
            at = int(self.offsets[i])
            tokens = self.tokens[at : at + length[row]].astype(np.int64)
            weight = self.weights[at : at + length[row]].astype(np.float32) / self.weight_scale
            # Positions of the prompt see the next token: there is nothing to learn there.
            first = int(self.answers[i])
            if other_words is not None:
                other_words.read(tokens, first)
            ids[row, : len(tokens)] = tokens
            where, weight = np.arange(first, len(tokens)), weight[first:]
            where, weight = where[weight > 0], weight[weight > 0]
            positions.append(where - 1 + row * t)
            targets.append(tokens[where])
            weights.append(weight)
        prompts = self.answers[group].astype(np.int64)
        lists = (np.concatenate(x) for x in (positions, targets, [w.astype(np.float32) for w in weights]))
        return tuple(torch.from_numpy(x) for x in (ids, prompts, *lists))


def padded(length):
    return -(-int(length) // 16) * 16


class ShardStore:
    """
    Shards by number in a folder; a missing one is made by the generator, the next one ahead of time. Of several
    workers only one makes them.
    """

    def __init__(self, folder, command):
        self.folder, self.command, self.makes = folder, command, True
        self.running, self.running_for = None, ""

    def path(self, number):
        return os.path.join(self.folder, f"{number:05d}.shard")

    def start(self, number):
        # The one that made the last shard may still be on its way out.
        is_free = self.running is None or os.path.exists(self.running_for)
        if self.makes and is_free and not os.path.exists(self.path(number)):
            self.running_for = self.path(number)
            self.running = subprocess.Popen([*self.command, self.running_for, str(number)])

    def get(self, number):
        while not os.path.exists(self.path(number)):
            self.start(number)
            if self.running is not None and self.running.poll() is not None:
                code, self.running = self.running.returncode, None
                assert code == 0, f"the generator ended with {code}"
            time.sleep(0.2)
        return Shard(self.path(number))
