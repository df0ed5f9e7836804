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


# Share of texts that are read as they are; of the others' words that which is read as others, if there are; how many
# others a word has, and the least cosine to one.
PLAIN_TEXTS, OTHER_WORDS, NEAREST, NEAR = 0.3, 0.25, 6, 0.6
# The most frequent tokens are never read as others: a text hangs on them.
FREQUENT = 250


class OtherWords:
    """
    Reads words of a text as others that lie near them, so that the text says about the same and cannot be known by
    heart. What stands in the answer stays, as does what has no vector.
    """

    def __init__(self, vocabulary, counts):
        """counts [tokens] of how often each stands in a shard."""
        self.user = vocabulary.user
        self.others = np.full((vocabulary.size, NEAREST), -1, np.int64)
        words = vocabulary.words
        # A word in capitals becomes one in capitals.
        kind = (vocabulary.marks * 2.0 ** torch.arange(vocabulary.marks.shape[1])).sum(1)
        has = words.abs().sum(1) > 0
        has[torch.from_numpy(np.argsort(counts)[-FREQUENT:])] = False
        for one in kind[has].unique():
            mine = torch.nonzero(has & (kind == one)).squeeze(1)
            for part in mine.split(2000):
                cosine = words[part] @ words[mine].t()
                cosine[part[:, None] == mine[None]] = -1
                value, index = cosine.topk(min(NEAREST, len(mine)), 1)
                found = torch.where(value > NEAR, mine[index], torch.tensor(-1))
                self.others[part.numpy(), : found.shape[1]] = found.numpy()

    def read(self, tokens, first):
        """tokens [n] of a sample whose answer begins at `first`: changed in place, the same way each time."""
        rng = np.random.default_rng(int(tokens.sum()) * 1009 + len(tokens))
        begin = np.flatnonzero(tokens[:first] == self.user)
        if len(begin) == 0 or rng.random() < PLAIN_TEXTS:
            return
        begin = begin[-1] + 1
        at = begin + np.flatnonzero(rng.random(first - begin) < OTHER_WORDS)
        at = at[~np.isin(tokens[at], tokens[first:])]
        other = self.others[tokens[at], rng.integers(0, NEAREST, len(at))]
        tokens[at] = np.where(other >= 0, other, tokens[at])


class Shard:
    """
    tokens u16, weights u8 (0 = prompt), offsets u32 [samples + 1], answers u32 (index of the first answer token);
    of tags (generator/tags.ts) tag_at u16 (index in the sample), tag_token u16, tag_asked u8, tag_offsets u32.
    """

    def __init__(self, path, other_words=None):
        self.other_words = other_words
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

    def tensors(self, group):
        """(ids [n, t], lengths of the prompts [n], flat positions, targets, weights)."""
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
            if self.other_words is not None:
                self.other_words.read(tokens, first)
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
        self.folder, self.command, self.makes, self.other_words = folder, command, True, None
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
        return Shard(self.path(number), self.other_words)
