"""
The embedding as a sum: a row of its own for each stem, what a space or a capital in front adds, and word vectors made
without this model's texts, turned into its space. Words that training hardly meets lie where their neighbours lie.
"""

import numpy as np
import torch

from arrays import read_arrays

MARKS = 3  # a space in front, a capital in front, all of it capitals


def read_vocabulary(path, size):
    """What generator/vocabulary.ts wrote; `size` counts rows that no token has, behind the others."""
    header, arrays = read_arrays(path)
    tokens = len(arrays["stem"])
    assert tokens <= size, f"{tokens} tokens do not fit into {size} rows"
    stem, marks, words = torch.arange(size), torch.zeros(size, MARKS), torch.zeros(size, header["width"])
    stem[:tokens] = torch.from_numpy(arrays["stem"].astype(np.int64))
    for bit in range(MARKS):
        marks[:tokens, bit] = torch.from_numpy((arrays["marks"] >> bit & 1).astype(np.float32))
    vectors = torch.from_numpy(arrays["vectors"].astype(np.float32)).view(-1, header["width"])
    word = torch.from_numpy(arrays["word"].astype(np.int64))
    words[:tokens][word >= 0] = torch.nn.functional.normalize(vectors)[word[word >= 0]]
    return Vocabulary(stem, marks, words, header["user"])


class Vocabulary:
    """
    stem [size], the token whose row it has; marks [size, MARKS], 0 or 1; words [size, n], unit vectors or zeros; user,
    the token in front of a text, if there is one.
    """

    def __init__(self, stem, marks, words, user=-1):
        self.stem, self.marks, self.words, self.user = stem, marks, words, user
        self.size, self.word_width = words.shape

    def tensors(self, width):
        """Name -> shape of what the embedding is made of."""
        return {"stems": (self.size, width), "marks": (MARKS, width), "words": (self.word_width, width)}

    def embed(self, weight, out):
        """The embedding [size, width], into `out`."""
        torch.index_select(weight["stems"], 0, self.stem, out=out)
        out.addmm_(self.marks, weight["marks"]).addmm_(self.words, weight["words"])

    def spread(self, d_embedding, gradient):
        """Adds the embedding's gradient to those of its parts."""
        gradient["stems"].index_add_(0, self.stem, d_embedding)
        gradient["marks"].addmm_(self.marks.t(), d_embedding)
        gradient["words"].addmm_(self.words.t(), d_embedding)

    def factor(self, embedding, weight, loss=1.0):
        """The parts of a finished embedding: ridge regression on the vectors, then means over forms of a word."""
        has = self.words.abs().sum(1) > 0
        known = torch.cat([self.words, self.marks], 1)
        square = known[has].t() @ known[has] + loss * torch.eye(known.shape[1])
        both = torch.linalg.solve(square, known[has].t() @ embedding[has])
        weight["words"].copy_(both[: self.word_width])
        weight["marks"].copy_(both[self.word_width :])
        rest = embedding - known @ both
        count = torch.zeros(self.size).index_add_(0, self.stem, torch.ones(self.size))
        weight["stems"].zero_().index_add_(0, self.stem, rest).div_(count.clamp(min=1)[:, None])
