"""Flynn & Reeb's Figure 1: bands of CMM, AY and IGP: ``flynn_bands.py OUT.png``.

Or an .svg; with ``PYTHONPATH=tests/oracles``.
"""

import sys

import altair
import numpy as np
import pandas as pd
from bound_state import BoundState
from rkhs_bandit import Problem

N_MEASURED = 20


def main(out: str) -> None:
    """Draw the bands of one problem."""
    problem = Problem(1.5, 0.5, d=1)
    rng = np.random.default_rng(0)
    f = problem.function(rng)
    x, grid = rng.uniform(size=(N_MEASURED, 1)), np.linspace(0, 1, 300)[:, np.newaxis]
    y = f(x) + problem.sigma * rng.standard_normal(N_MEASURED)
    state = BoundState(
        problem.kernel, B=problem.norm, sigma=problem.sigma, delta=problem.delta, c=problem.scale
    )
    state.observe(x, y)
    bands = []
    for name, kind in (("IGP", "igp"), ("AY", "ay"), ("CMM", "cmm")):
        interval = state.bounds(grid, kind, **({"eta": 2 / N_MEASURED} if kind == "igp" else {}))
        width = float(np.mean(interval.high - interval.low))
        held = bool(np.all((interval.low <= f(grid)) & (f(grid) <= interval.high)))
        print(
            f"{name}: mean width {width:.2f}, holds the function everywhere: "
            f"{'yes' if held else 'no'}"
        )
        bands.append(
            pd.DataFrame(
                {"x": grid[:, 0], "low": interval.low, "high": interval.high, "bound": name}
            )
        )
    colour = altair.Color(
        "bound:N", sort=["IGP", "AY", "CMM"], scale=altair.Scale(scheme="tableau10")
    )
    area = (
        altair.Chart(pd.concat(bands))
        .mark_area(opacity=0.3)
        .encode(x="x:Q", y="low:Q", y2="high:Q", color=colour)
    )
    truth = (
        altair.Chart(pd.DataFrame({"x": grid[:, 0], "f": f(grid)}))
        .mark_line(color="black")
        .encode(x="x", y="f")
    )
    points = (
        altair.Chart(pd.DataFrame({"x": x[:, 0], "f": y}))
        .mark_point(color="black")
        .encode(x="x", y="f")
    )
    title = "Matérn 3/2, lengthscale 0.5, 20 measurements, B = 10, sigma = 0.1, delta = 0.01"
    (area + truth + points).properties(width=640, height=360, title=title).save(out)


if __name__ == "__main__":
    main(sys.argv[1])
