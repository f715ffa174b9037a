"""Where traffic that changes by the hour costs the learner its saving, and what may mend it.

    python studies/daily_causes.py runs/daily-causes --cities denver
    python studies/daily_causes.py runs/daily-causes --guarded --first-seed 5000 \
        --cities denver monaco --causes today deviations

Parts of the learner of `guard_worlds` are replaced, one at a time. *Speeds* are by the map, learned
as today, the true ones of the quarter of the day on roads driven in that quarter (else by the map),
or the true ones everywhere. *Energy* is physics at these speeds alone, with today's process, with
the process by its mean without draws, or as in the sketches below. *Known* turns and starts that
were driven in a quarter have their true energy there. Development pairs: random, 3.3 to 7.3 km,
seeds from 5008.

Sketches. `deviations`: an additive deviation of the energy by road and quarter, shrunk by the
variances of `DayProfile`, which is 0 without evidence. `process by quarter`: four processes, one
for each quarter, so nothing is shared. `process by trip number`: four processes too, each for one
trip in four, whatever the hour, a placebo of the former. `speeds agree`: the speed of a road in a
quarter without passes goes towards the map by the variance between quarters over the variance
between roads.

Rule, committed before the runs with these seeds: `recommended` with and without each sketch, in
Denver and Monaco, seeds 5000 to 5007. A sketch is built if the last 50 trips of `daily` save more,
the 95 % interval of the paired difference lies above 0, no interval of `rough`, `drift` and
`physics-right` lies below 0, and at most 0.1 Wh a trip is lost where physics is right. The other
families are driven if `daily` gains.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from guard_worlds import FAMILIES, LAST, LOSES, METHODS
from scipy.stats import t as student_t
from threadpoolctl import threadpool_limits

from evroute.arms import Arms, Belief, Feedback
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import Experiment
from evroute.experiments.play import run_loop
from evroute.experiments.streams import streams
from evroute.files import replacing
from evroute.methods.setting import load_setting
from evroute.model.exact import ExactGP
from evroute.planning.forecasts.day_profile import QUARTERS, DayProfile, quarter_of
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.demand.trips import S_PER_H


class Parts(NamedTuple):
    """Speeds and energy of a learner, and whether energies of turns driven are known."""

    speeds: str = "learned"
    energy: str = "process"
    known: bool = False


CAUSES = {
    "today": Parts(),
    "nothing learned": Parts("map", "physics"),
    "speeds, no process": Parts(energy="physics"),
    "process, no speeds": Parts("map"),
    "no draws": Parts(energy="mean"),
    "known": Parts(known=True),
    "known, no draws": Parts(energy="mean", known=True),
    "speeds where driven, no process": Parts("driven", "physics"),
    "speeds where driven": Parts("driven"),
    "speeds where driven, known": Parts("driven", known=True),
    "speeds everywhere": Parts("everywhere"),
    "speeds everywhere, no draws": Parts("everywhere", "mean"),
    "speeds everywhere, no process": Parts("everywhere", "physics"),
    "deviations": Parts(energy="deviations"),
    "process by quarter": Parts(energy="by quarter"),
    "process by trip number": Parts(energy="by trip number"),
    "speeds agree": Parts("agree"),
}


class TrueSpeeds:
    """The true speeds in each quarter of the day, of all roads or of roads driven in it.

    Parameters
    ----------
    environment
        World of the trips.
    everywhere
        Whether all roads are known, or those driven.
    """

    trips = 1

    def __init__(self, environment, *, everywhere):
        self._factor = environment._speed_factor
        self._known = np.full((QUARTERS, self._factor.shape[1]), everywhere)
        self._everywhere = everywhere
        self._learns = True

    def learn(self, feedback, known_mps):
        """Learn which roads were driven."""
        self._known[quarter_of(feedback.departed_s), feedback.id] = True

    def driven_mps(self, known_mps, departed_s):
        """Return the speeds of a departure, (n,) m/s, and by the map for the mean of the day."""
        if departed_s is None:
            return known_mps
        quarter = quarter_of(departed_s)
        return known_mps * np.where(self._known[quarter], self._factor[quarter], 1.0)

    def error(self, feedback, known_mps):
        """Return no error of times."""
        return float("nan")

    def restore(self, state):
        """Forget the roads that were driven."""
        self._known[:] = self._everywhere


class MapSpeeds(TrueSpeeds):
    """The speeds of the map."""

    def __init__(self, environment):
        super().__init__(environment, everywhere=False)

    def learn(self, feedback, known_mps):
        """Learn nothing."""


class Agreeing(DayProfile):
    """A profile whose quarters without passes go towards 0, as far as quarters differ.

    The mean of the day m of a road has variance w² around 0, and a quarter deviates from it by
    tau². After k quarters the share ``w² k / (w² k + tau²)`` of m counts in another one.
    """

    def factor(self, edge, departed_s):
        """Return the mean of ``exp(value)`` in the quarter of a departure over the day's mean."""
        factor = super().factor(edge, departed_s)
        deviation = self._of_quarters()
        if departed_s is None or not deviation.any():
            return factor
        count = self.moments[0, :QUARTERS][:, edge]
        passes = count.sum(axis=0)
        unseen = (count[quarter_of(departed_s)] == 0) & (passes > 0)
        mean = (count * np.exp(deviation[:, edge])).sum(axis=0)[unseen] / passes[unseen]
        lost = (1.0 - self._shares()[edge]) * self.mean()[edge]
        factor[unseen] = np.exp(-lost[unseen]) / mean
        return factor

    def _shares(self):
        """Return the share of the mean that counts in a quarter without passes, (n,)."""
        count, total, square = self.moments[:, :QUARTERS]
        nonzero, passes = np.maximum(count, 1.0), count.sum(axis=0)
        mean, groups, seen = self.mean(), np.count_nonzero(count), passes > 0
        free = max(passes.sum() - groups, 1.0)
        noise = max((square - total**2 / nonzero).sum() / free, 0.0)
        between = ((total - count * mean) ** 2 / nonzero).sum()
        inner = (passes - (count**2).sum(axis=0) / np.maximum(passes, 1.0)).sum()
        tau2 = (between - noise * (groups - np.count_nonzero(passes))) / max(inner, 1.0)
        own = (count**2).sum(axis=0)[seen] / passes[seen] ** 2
        roads = max((mean[seen] ** 2 - tau2 * own - noise / passes[seen]).mean(), 0.0)
        with_roads = roads * np.count_nonzero(count, axis=0)
        return with_roads / np.maximum(with_roads + tau2, 1e-12)


class Replaced:
    """Today's model with other energies. `depart` gives the departure of the next trip."""

    def __init__(self, model, space, environment, parts):
        self._parts, self._space = parts, space
        self._models = [model]
        if parts.energy.startswith("by "):
            more = range(QUARTERS - 1)
            numbers = model._kernel, model._reference, model._noise_std_wh
            self._models += [ExactGP(*numbers) for _ in more]
        self._std_wh = space.prior().std_wh
        self.errors = []
        self._truth_wh = None
        if parts.known:
            truths = [environment._truth_of("", quarter) for quarter in range(QUARTERS)]
            self._truth_wh = [np.append(truth.enter_wh, truth.first_wh) for truth in truths]
        self._forget()

    def _forget(self):
        self._driven = np.zeros((QUARTERS, self._space.size), dtype=bool)
        self._profile = DayProfile(self._space.table.n_edges)

    def __getattr__(self, name):
        return getattr(self._models[0], name)

    def depart(self, departed_s):
        """Take the departure of the trip that is chosen next."""
        self._departed_s = departed_s

    def _model(self, departed_s):
        """Return the process of a departure."""
        if self._parts.energy == "by quarter":
            return self._models[quarter_of(departed_s)]
        if self._parts.energy == "by trip number":
            return self._models[int(departed_s // S_PER_H) % QUARTERS]
        return self._models[0]

    def _deviation_wh(self, rows, departed_s):
        """Return the deviation of turns and starts in the quarter of a departure, Wh."""
        deviation = self._profile.deviation(departed_s)
        return deviation[self._space.table.entered[rows]] * self._std_wh[rows]

    def posterior(self, arms):
        """Return what is believed of arms."""
        energy = self._parts.energy
        if energy == "physics":
            mean_wh, std_wh = arms.prior_mean_wh.copy(), np.zeros(len(arms))
        else:
            belief = self._model(self._departed_s).posterior(arms)
            mean_wh, std_wh = belief.mean_wh.copy(), belief.std_wh * (energy != "mean")
        if energy == "deviations":
            mean_wh += self._deviation_wh(arms.id, self._departed_s)
        if self._parts.known:
            quarter = quarter_of(self._departed_s)
            driven = self._driven[quarter, arms.id]
            mean_wh[driven] = self._truth_wh[quarter][arms.id][driven]
            std_wh[driven] = 0.0
        return Belief(mean_wh, std_wh)

    def update(self, feedback):
        """Learn a trip."""
        departed_s, rows, energy = feedback.departed_s, feedback.id, self._parts.energy
        self._driven[quarter_of(departed_s), rows] = True
        self.errors.append(self._squares(feedback))
        if energy == "physics":
            return
        prior_wh = feedback.prior_mean_wh
        if energy == "deviations":
            value = (feedback.energy_wh - prior_wh) / self._std_wh[rows]
            self._profile.add(self._space.table.entered[rows], value, departed_s)
            prior_wh = prior_wh + self._deviation_wh(rows, departed_s)
        self._model(departed_s).update(
            Feedback(rows, feedback.features, prior_wh, feedback.energy_wh)
        )

    def _squares(self, feedback):
        """Return the mean squares of errors of a trip before it is learned, in noise deviations.

        By physics at the driven speeds, which this trip has changed, and as believed.
        """
        rows, first = np.unique(feedback.id, return_index=True)
        arms = Arms(rows, feedback.features[first], feedback.prior_mean_wh[first])
        noise_wh, energy_wh = self._models[0].noise_std(arms), feedback.energy_wh[first]
        self.depart(feedback.departed_s)
        believed_wh = self.posterior(arms).mean_wh
        means = arms.prior_mean_wh, believed_wh
        return [float(np.mean(((energy_wh - mean_wh) / noise_wh) ** 2)) for mean_wh in means]

    def restore(self, state):
        """Begin anew."""
        for model in self._models:
            model.restore(state)
        self._forget()


def world(cause: str, family: str, city: str, seed: int, *, guarded: bool) -> pd.DataFrame:
    """Drive the trips of a world and return a row for each."""
    parts = CAUSES[cause]
    kind, trip, horizon = FAMILIES[family]
    grid = {
        "trips": {city: [trip]},
        "methods": [METHODS["recommended" if guarded else "unguarded"]],
        "world": [kind],
        "horizon": horizon,
        "seeds": 1,
        "first_seed": seed,
    }
    run = next(Experiment.model_validate(grid).runs())
    setting = load_setting(city, run.vehicle, run.assumed)
    seeds = streams(run, setting)
    environment = run.world.build(setting, load_demand(run.trip, setting, seeds.trips), seeds.world)
    profile = Agreeing if parts.speeds == "agree" else DayProfile
    with patch("evroute.planning.forecasts.pace.DayProfile", profile):
        agent = make_learners(run, ("",), seeds.policy, seeds.model)[""].agent
        if parts.speeds == "map":
            agent.space._speeds = MapSpeeds(environment)
        elif parts.speeds in {"driven", "everywhere"}:
            everywhere = parts.speeds == "everywhere"
            agent.space._speeds = TrueSpeeds(environment, everywhere=everywhere)
        agent.model = Replaced(agent.model, agent.space, environment, parts)
        ask = agent.ask

        def ask_at(request):
            agent.model.depart(request.departed_s)
            return ask(request)

        agent.ask = ask_at
        scorers = make_scorers(run, ("",))
        log = run_loop({"": agent}, environment, scorers, horizon=horizon, on_round=lambda t: None)
    columns = ("t", "true_wh", "eq8_wh", "best_wh")
    errors = dict(zip(("by_physics", "believed"), np.transpose(agent.model.errors), strict=True))
    logged = {name: log.rounds[name] for name in columns}
    return pd.DataFrame(logged | dict(log.diagnostics) | errors)


def row(cause: str, family: str, runs: list[pd.DataFrame], today: list[pd.DataFrame]) -> dict:
    """Return the row of a cause in the worlds of a family.

    Errors are mean squares of the energies of single turns, in noise deviations.
    """

    def saved(run: pd.DataFrame) -> float:
        return (run["eq8_wh"] - run["true_wh"]).tail(LAST).mean()

    last = np.array([saved(run) for run in runs])
    more = last - [saved(run) for run in today]
    head = np.array([(run["eq8_wh"] - run["best_wh"]).tail(LAST).mean() for run in runs])
    taken = np.array([run["eq8_wh"].abs().tail(LAST).mean() for run in runs])
    error = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
    return {
        "cause": cause,
        "family": family,
        "worlds": len(runs),
        "headroom (Wh)": head.mean(),
        "saved (Wh)": last.mean(),
        "of headroom (%)": 100 * last.sum() / head.sum(),
        "median (Wh)": np.median(last),
        "least (Wh)": last.min(),
        "loses (%)": 100 * np.mean(last <= -LOSES * taken),
        "all trips (Wh)": np.mean([(run["eq8_wh"] - run["true_wh"]).mean() for run in runs]),
        "difference": more.mean(),
        "±": error * student_t.ppf(0.975, max(len(more) - 1, 1)),
        "least difference": more.min(),
        "errors, physics": np.mean([run["by_physics"].mean() for run in runs]),
        "errors, believed": np.mean([run["believed"].mean() for run in runs]),
    }


def main() -> None:
    """Drive the worlds that have no file yet, and print a row for each cause and family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--causes", nargs="+", choices=CAUSES, default=list(CAUSES))
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=["daily"])
    parser.add_argument("--cities", nargs="+", default=["denver"])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=5008)
    parser.add_argument("--guarded", action="store_true")
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    worlds = list(product(given.cities, seeds))
    rows = []
    for family in given.families:
        today: list[pd.DataFrame] = []
        for cause in dict.fromkeys(("today", *given.causes)):
            name = ("guarded-" if given.guarded else "") + cause.replace(",", "").replace(" ", "-")
            runs = []
            for city, seed in worlds:
                path = given.out / name / f"{family}-{city}-{seed}.parquet"
                if not path.exists():
                    with threadpool_limits(1), replacing(path) as temporary:
                        driven = world(cause, family, city, seed, guarded=given.guarded)
                        driven.to_parquet(temporary)
                runs.append(pd.read_parquet(path))
            today = today or runs
            rows.append(row(cause, family, runs, today))
            print(pd.DataFrame(rows[-1:]).round(1).to_string(index=False), flush=True)
    print(pd.DataFrame(rows).round(1).to_string(index=False))


if __name__ == "__main__":
    main()
