"""Forecasts of fixed and of chosen routes against drives (`docs/figures/risk.md`).

    python studies/risk_causes.py denver 40 60 100 104

Arguments: network, trips learned before, trips forecast, first seed and the one after the last. As
in `risk_figures`, the belief learns random trips of 1 to 4 km on their fastest route, but none of
the trips forecast. Of each of these the fastest route (fixed) and the belief's route of least
energy (chosen) are forecast and driven. Prints how often the energy was above upper quantiles of
its forecast, by world and route, with the bias in predicted deviations. World `drift` counts until
its first change.
"""

import sys
from collections.abc import Iterator

import numpy as np
from risk_figures import CHANGED, WORLDS, Log

from evroute.planning.planner import Planner

RISKS = (0.10, 0.05, 0.02, 0.01)


def forecasts(world: str, network: str, learned: int, n: int, seed: int) -> Iterator[tuple]:
    """Yield route, error in predicted deviations, and probability of more energy than measured."""
    log = Log(world, network, learned + n, seed)
    for t in range(1, learned + 1):
        request = log.truth.observe(t)
        log.learn(t, log.truth.drive(request, log.fastest(request)))
    setting = log.belief.setting
    planner = Planner(setting.network, setting.vehicle, log.belief, conditions=log.day)
    for t in range(learned + 1, min(learned + n, CHANGED.get(world, learned + n)) + 1):
        request = log.truth.observe(t)
        routes = planner.plan(request.origin, request.destination).routes
        for kind, name in (("fixed", "time"), ("chosen", "energy")):
            forecast = routes[name].energy_forecast
            energy_wh = log.truth.drive(request, routes[name].route).energy_wh.sum()
            deviates = (energy_wh - forecast.mean_wh) / forecast.std_wh
            yield kind, deviates, forecast.beyond(deviates)


def main(network: str, learned: int, n: int, first: int, end: int) -> None:
    """Print the table by world and of all worlds."""
    rows = {
        (world, seed): list(forecasts(world, network, learned, n, seed))
        for world in WORLDS
        for seed in range(first, end)
    }
    print(f"| route | {' | '.join(f'{risk:.0%}' for risk in RISKS)} | bias, sd |\n{'| --- ' * 6}|")
    for world in (*WORLDS, "all"):
        for kind in ("fixed", "chosen"):
            found = [r for (of, _), run in rows.items() if world in (of, "all") for r in run]
            z, beyond = np.array([r[1:] for r in found if r[0] == kind]).T
            shares = " | ".join(f"{(beyond < risk).mean():.1%}" for risk in RISKS)
            print(f"| {world}, {kind} | {shares} | {z.mean():+.2f}, {z.std():.2f} |")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
