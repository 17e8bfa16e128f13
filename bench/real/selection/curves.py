"""
What the runs show: tokens to a held-out reward, compared in pairs of the same seed, and a picture.

    python curves.py --results results.jsonl --threshold 0.6 --picture curves.svg
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path
from statistics import NormalDist, mean, stdev
from typing import Any

Run = Mapping[str, Any]
Runs = dict[str, dict[int, Run]]
"""By strategy (with its settings, where they are not the usual), and seed."""
smoothed_over = 3
looks = {
    "uniform": ("all prompts", "#6b7280"),
    "dapo": ("DAPO's filter", "#e8871e"),
    "greso": ("GRESO", "#2a9d5c"),
    "greso-exact": ("GRESO, exact rounds", "#7fb069"),
    "value": ("prompt-selection, exponent 0", "#8e5bb5"),
    "ours": ("prompt-selection, exponent 1", "#1f4e79"),
    "ours lengthExponent=0.5": ("prompt-selection, exponent 0.5", "#c0392b"),
}
"""Names and colours in the picture."""


def read(paths: Sequence[Path]) -> Runs:
    runs: Runs = {}
    for path in paths:
        for line in path.read_text().splitlines():
            one = json.loads(line)
            name = one["strategy"] + "".join(f" {key}={value}" for key, value in sorted(one["settings"].items()))
            runs.setdefault(name, {})[one["seed"]] = one
    return runs


def smoothed(run: Run) -> Iterator[tuple[float, float]]:
    """Generated tokens, and the mean of the last evaluations there."""
    rewards = [point[1] for point in run["curve"]]
    for n, point in enumerate(run["curve"]):
        yield point[0], mean(rewards[max(0, n + 1 - smoothed_over) : n + 1])


def reached(run: Run, threshold: float) -> float | None:
    """Generated tokens at which the smoothed reward first comes to the threshold, on a line between evaluations."""
    for (before, low), (after, high) in pairwise(smoothed(run)):
        if high >= threshold:
            return before + (after - before) * max(0.0, threshold - low) / (high - low) if high > low else before
    return None


def quantile(freedom: int, level: float = 0.975) -> float:
    """Of Student's t, by its expansion around the normal distribution: within 0.01 from 5 degrees of freedom."""
    z = NormalDist().inv_cdf(level)
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


@dataclass(frozen=True)
class Ratio:
    """Of tokens, the geometric mean over pairs, and its 95 % interval (Student's t over logarithms)."""

    mean: float
    low: float
    high: float
    pairs: int
    better: int
    """Pairs with a ratio above 1."""

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f}), above 1 in {self.better} of {self.pairs}"


def compare(other: Mapping[int, Run], ours: Mapping[int, Run], threshold: float) -> Ratio:
    """
    The other's tokens ÷ ours, where both ran. A run of the other that does not get there counts as if it had at its
    end, which favours it; one of ours, as if it had needed twice its tokens, and as 1 where neither got there.
    """
    logs = []
    for seed in sorted(other.keys() & ours.keys()):
        theirs, own = reached(other[seed], threshold), reached(ours[seed], threshold)
        ended, at = other[seed]["curve"][-1][0], ours[seed]["curve"][-1][0]
        logs.append(0.0 if theirs is None and own is None else math.log((theirs or ended) / (own or 2 * at)))
    middle, half = mean(logs), quantile(len(logs) - 1) * stdev(logs) / len(logs) ** 0.5
    better = sum(one > 0 for one in logs)
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half), len(logs), better)


def table(runs: Runs, ours: str, threshold: float) -> Iterator[str]:
    yield "| strategy | tokens to the threshold (thousands) | did not get there | ÷ ours |"
    yield "| --- | --- | --- | --- |"
    for name, of in runs.items():
        found = [reached(run, threshold) for run in of.values()]
        tokens = [one or run["curve"][-1][0] for one, run in zip(found, of.values(), strict=True)]
        typical = math.exp(mean(map(math.log, tokens))) / 1000
        ratio = "" if name == ours or len(of) < 3 else str(compare(of, runs[ours], threshold))
        yield f"| {name} | {typical:.1f} | {found.count(None)} of {len(of)} | {ratio} |"


def at(run: Run, tokens: float) -> float:
    for (before, low, *_), (after, high, *_) in pairwise(run["curve"]):
        if before <= tokens <= after:
            return low + (high - low) * (tokens - before) / (after - before)
    return run["curve"][-1][1]


def draw(runs: Runs, threshold: float, path: str, points: int = 33) -> None:
    """The curves with the intervals of their means; and of each strategy, tokens to the threshold by seed, sorted."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "rollflex", "svg.fonttype": "none"})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
    last = min(run["curve"][-1][0] for of in runs.values() for run in of.values())
    places = [last * n / (points - 1) for n in range(points)]
    colors = cycle(["#8e5bb5", "#c0392b", "#7fb069"])
    for name, of in runs.items():
        label, color = looks.get(name) or (name, next(colors))
        x, middles, halves = [place / 1000 for place in places], [], []
        for place in places:
            rewards = [at(run, place) for run in of.values()]
            middles.append(mean(rewards))
            halves.append(quantile(len(rewards) - 1) * stdev(rewards) / len(rewards) ** 0.5)
        low = [one - half for one, half in zip(middles, halves, strict=True)]
        high = [one + half for one, half in zip(middles, halves, strict=True)]
        left.plot(x, middles, label=label, color=color, linewidth=1.6)
        left.fill_between(x, low, high, color=color, alpha=0.1, linewidth=0)
        found = sorted(reached(run, threshold) or math.inf for run in of.values())
        shares = [(n + 1) / len(found) for n in range(len(found))]
        right.step([one / 1000 for one in found], shares, where="post", color=color, linewidth=1.6)
    left.axhline(threshold, color="#999999", linewidth=0.7, linestyle=":")
    seeds = len(next(iter(runs.values())))
    reward = f"held-out reward (mean of {seeds} seeds, 95 %)"
    left.set(xlabel="generated tokens (thousands)", ylabel=reward, xlim=(0, last / 1000))
    share = f"share of seeds that reached {threshold}"
    right.set(xlabel="generated tokens (thousands)", ylabel=share, ylim=(0, 1.02), xlim=(0, last / 1000))
    figure.legend(frameon=False, loc="outside lower center", ncols=4)
    for panel in (left, right):
        panel.grid(color="#dddddd", linewidth=0.6)
    if not path.endswith(".svg"):
        return figure.savefig(path)
    figure.savefig(path, metadata={"Date": None})
    # A screen reader has nothing else to say.
    title = "<title>Held-out reward by generated tokens, and the share of seeds that reached a threshold</title>"
    drawn = Path(path).read_text()
    Path(path).write_text(drawn.replace(" <metadata>", f" {title}\n <metadata>", 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, nargs="+", required=True)
    parser.add_argument("--threshold", type=float, nargs="+", default=[0.6])
    parser.add_argument("--ours", default="ours")
    parser.add_argument("--picture")
    options = parser.parse_args()
    runs = read(options.results)
    for threshold in options.threshold:
        print(f"\nTo a held-out reward of {threshold}:\n")
        print("\n".join(table(runs, options.ours, threshold)))
    if options.picture:
        draw(runs, options.threshold[0], options.picture)


if __name__ == "__main__":
    main()
