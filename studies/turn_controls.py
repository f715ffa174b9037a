"""Effect of lights, stop signs and priority on predictions of new turns (docs/figures/turns.md).

    python studies/turn_controls.py monaco luxembourg

SUMO drives eq. 8's routes of 200 random pairs, once each, in free flow. Half of the trips are
learned, the others asked about. Needs ``evroute[sumo]`` and ``EVROUTE_DATA_DIR``.
"""

import sys

import numpy as np
from numpy.random import default_rng
from world_figures import City, routes

from evroute.arms import Arms, Feedback, Route
from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.methods.method import Method, make_model, make_space
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.network.controls import NAMES
from evroute.worlds import trace_energy

MODELS = ({"model": "exact"}, {"model": "exact", "noise": "learned"}, {"model": "physics+gp"})
ARMS = ("turns", "turns-braked")
AT_ONCE = 10


def drive(city: City) -> list[Feedback]:
    """Return what each trip measured, by edge."""
    network, told = city.setting.network, []
    for i, rows in enumerate(routes(city.setting, named=False)):
        trace = city.trace(rows, 1000 + i)
        wh = trace_energy.energy_wh(
            trace, network, city.setting.vehicle, np.zeros(network.n_edges), AIR_DENSITY_KGPM3
        )
        told.append(Feedback.of_route(city.setting.arms, Route(tuple(rows.tolist())), wh))
    return told


def together(trips: list[Feedback]) -> Feedback:
    """Return what several trips measured as one feedback."""
    columns = ("id", "features", "prior_mean_wh", "energy_wh")
    return Feedback(
        **{name: np.concatenate([getattr(trip, name) for trip in trips]) for name in columns}
    )


def rms(values: FloatArray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def report(name: str) -> None:
    """Print by what the prior errs where cars are held up, and how well each method foretells."""
    city = City(name)
    city.setting = setting = load_setting(name, "reference", Prior("dissipation"))
    trips = drive(city)
    learned, asked = trips[: len(trips) // 2], trips[len(trips) // 2 :]
    control = setting.on_turns().space.energy.table.control
    if control is None:
        raise SystemExit(f"{name} knows of no lights, stop signs or right of way")
    print(f"\n### {name}: {len(learned)} trips learned, {len(asked)} asked about\n")
    for arms in ARMS:
        space = make_space(Method(model="exact", index="greedy", arms=arms), setting)
        told = [space.feedback(trip) for trip in trips]
        rows = np.concatenate([trip.id for trip in told])
        excess = np.concatenate([trip.energy_wh - trip.prior_mean_wh for trip in told])
        turning = rows < space.table.n_turns
        for kind in np.unique(control[rows[turning]]):
            of = excess[turning & (control[rows] == kind)]
            print(
                f"{arms}, {NAMES[kind]}: {len(of)} passages, {of.mean():+.1f} Wh beyond the prior, "
                f"sd {of.std():.1f}"
            )
    print(
        "\n| method | unseen turns | RMSE of these, Wh | of all turns | of routes |\n| --- | --- | "
        "--- | --- | --- |"
    )
    for arms in ARMS:
        method = Method(model="exact", index="greedy", arms=arms)
        print(f"| prior, {arms} |", foretold(method, setting, learned, asked, learns=False))
    for model in MODELS:
        for arms in ARMS:
            for controls in (None, True):
                method = Method.model_validate(
                    {**model, "index": "greedy", "arms": arms, "controls": controls}
                )
                print(f"| {method.label} |", foretold(method, setting, learned, asked))


def foretold(
    method: Method,
    setting: Setting,
    learned: list[Feedback],
    asked: list[Feedback],
    *,
    learns: bool = True,
) -> str:
    """Return the number of passages of turns not learned, and the prediction errors, Wh."""
    space = make_space(method, setting)
    model = make_model(method, setting, default_rng(0))
    fleet = together([space.feedback(trip) for trip in learned])
    if learns:
        for at in range(0, len(learned), AT_ONCE):
            model.update(together([space.feedback(trip) for trip in learned[at : at + AT_ONCE]]))
    told = [space.feedback(trip) for trip in asked]
    all_asked = together(told)
    rows, first, place = np.unique(all_asked.id, return_index=True, return_inverse=True)
    arms = Arms(rows, all_asked.features[first], all_asked.prior_mean_wh[first])
    error = all_asked.energy_wh - model.posterior(arms).mean_wh[place]
    totals = np.add.reduceat(error, np.cumsum([0, *(len(trip.id) for trip in told[:-1])]))
    new = ~np.isin(all_asked.id, fleet.id)
    return f"{new.sum()} | {rms(error[new]):.2f} | {rms(error):.2f} | {rms(totals):.1f} |"


if __name__ == "__main__":
    for city_name in sys.argv[1:] or ("monaco", "luxembourg"):
        report(city_name)
