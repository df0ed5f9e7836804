"""
The curve of a run as a picture (Debian: python3-matplotlib).
  python3 plot.py RUN/log.jsonl PICTURE.svg
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "svc-tiny"  # The same bytes each time.
import matplotlib.pyplot as plt

source, target = sys.argv[1:]
with open(source) as file:
    # Steps are logged every 25; the mean of 16 such lines is a point.
    lines = [json.loads(line) for line in file]
groups = [lines[i : i + 16] for i in range(0, len(lines), 16)]


def curve(name):
    return [sum(line[name] for line in group) / len(group) for group in groups]


positions = [tokens / 1e6 for tokens in curve("tokens")]
figure, left = plt.subplots(figsize=(8, 3.6), layout="constrained")
right = left.twinx()
left.plot(positions, curve("loss"), color="tab:blue", label="loss")
left.plot(positions, [100 * rate for rate in curve("rate")], color="tab:grey", linewidth=1, label="rate × 100")
right.plot(positions, curve("tags"), color="tab:orange", label="tags right")
left.set(xlabel="positions, millions", ylabel="loss; rate × 100", ylim=(0, 0.4))
right.set(ylabel="tags right", ylim=(0.5, 1))
figure.legend(loc="upper center", bbox_to_anchor=(0.5, 0.99), ncol=3, frameon=False)
figure.savefig(target, metadata={"Date": None})
