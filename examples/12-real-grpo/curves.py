"""Curves of several seeds: on one axis, compared, and drawn."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from training import Point

Runs = dict[str, list[list[Point]]]
"""By schedule, one list of points for each seed, in the same order."""
student = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""The 97.5th percentile of Student's t, by the number of seeds."""
axes = {
    "steps": "training steps",
    "kept": "tokens trained on (thousands)",
    "generated": "tokens generated (thousands)",
    "seconds": "seconds of one core",
}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half of its 95 % interval (Student's t over seeds)."""
    if len(values) < 2:
        return values[0], float("nan")
    return statistics.mean(values), student[len(values)] * statistics.stdev(values) / len(values) ** 0.5


def at(run: Sequence[Point], axis: str, where: float) -> float:
    """The reward there, on a straight line between the points."""
    for before, after in pairwise(run):
        left, right = getattr(before, axis), getattr(after, axis)
        if left <= where <= right:
            return before.reward + (after.reward - before.reward) * (where - left) / (right - left)
    return run[-1].reward


def grid(runs: Sequence[Sequence[Point]], axis: str, points: int = 41) -> list[float]:
    """As far as every run came."""
    last = min(getattr(run[-1], axis) for run in runs)
    return [last * n / (points - 1) for n in range(points)]


def mean_reward(run: Sequence[Point], axis: str, places: Sequence[float]) -> float:
    return statistics.mean(at(run, axis, one) for one in places)


def compare(runs: Runs) -> list[str]:
    """Each schedule against synchronous rollouts, paired by seed."""
    lines, base = [], runs["synchronous"]
    for name, of in runs.items():
        ends = [run[-1] for run in of]
        shown = [f"reward {of[0][0].reward:.2f} -> " + said([one.reward for one in ends])]
        shown += [f"{axis} {said([getattr(one, axis) for one in ends], 0)}" for axis in (*axes, "decode_steps")]
        lines.append(f"{name}: {', '.join(shown)}")
    for name, other in runs.items():
        for axis in (*axes, "decode_steps") if other is not base else ():
            places = grid([*base, *other], axis)
            differences = [
                mean_reward(two, axis, places) - mean_reward(one, axis, places)
                for one, two in zip(base, other, strict=True)
            ]
            lines.append(f"mean reward at equal {axis}: {name} {said(differences, 3)} above synchronous")
    return lines


def said(values: Sequence[float], digits: int = 2) -> str:
    mean, half = interval(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def draw(runs: Runs, path: str) -> None:
    """One panel for each axis; bands are 95 % intervals of the mean."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "rollflex"})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(8, 5.6), sharey=True, layout="constrained")
    styles: dict[str, dict[str, Any]] = {
        "synchronous": {"color": "#1f4e79", "linestyle": "-"},
        "tail batching": {"color": "#e8871e", "linestyle": "--"},
        "lossless tail": {"color": "#2a9d5c", "linestyle": "-."},
    }
    for panel, (axis, label) in zip(panels.flat, axes.items(), strict=True):
        scale = 1000 if axis in ("kept", "generated") else 1
        for name, of in runs.items():
            places = grid(of, axis)
            bands = [interval([at(run, axis, place) for run in of]) for place in places]
            x = [place / scale for place in places]
            panel.plot(x, [mean for mean, _ in bands], label=name, linewidth=1.8, **styles[name])
            low, high = [mean - half for mean, half in bands], [mean + half for mean, half in bands]
            panel.fill_between(x, low, high, color=styles[name]["color"], alpha=0.2, linewidth=0)
        panel.set(xlabel=label, ylim=(0, 1), xlim=(0, None))
        panel.grid(color="#dddddd", linewidth=0.6)
    for row in panels:
        row[0].set_ylabel("reward (0 to 1)")
    seeds = len(next(iter(runs.values())))
    panels[0][0].legend(frameon=False, loc="lower right", title=f"mean of {seeds} seeds, 95 % interval")
    figure.savefig(path, dpi=100, metadata={"Date": None} if path.endswith(".svg") else None)
