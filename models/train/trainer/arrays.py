"""Files of generator/arrays.ts: a JSON line {..., arrays}, then the arrays one after the other."""

import json

import numpy as np


def read_arrays(path):
    """(header, name -> array)"""
    with open(path, "rb") as f:
        header = json.loads(f.readline())
        body = f.read()
    arrays, at = {}, 0
    for name, kind, count in header["arrays"]:
        arrays[name] = np.frombuffer(body, dtype=kind, count=count, offset=at)
        at += np.dtype(kind).itemsize * count
    return header, arrays
