"""Words of a text read as others that lie near them, drawn anew for each sample."""

import numpy as np
import torch

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
