"""Random plans on Denver, with and without belief, battery, limit, places and turns.

    python tests/oracles/honest_plans.py plans 5000     # counts broken promises
    python tests/oracles/honest_plans.py advice 1000    # follows the advice of refusals
    python tests/oracles/honest_plans.py held FOLDER    # held arms of plans on a belief

A belief has random deviations from physics; some fall below the potential, where the plan must hold
them. Each plan is checked by numbers computed here from the posterior and the network.
"""

import re
import sys
from collections import Counter
from typing import Any

import numpy as np

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.belief import load_belief
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.independent import IndependentNormal
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner

SAME = 1e-6
LIMIT = 1.15 + SAME


def random_belief(setting: Setting, arms: str, seed: int, std_wh: float) -> LearnedBelief:
    """Return a belief whose means deviate from physics by ``std_wh`` at random."""
    over = setting.on_turns() if arms == "turns" else setting
    rng, reference = np.random.default_rng(seed), over.arms
    model = IndependentNormal(np.full(len(reference), 100.0), np.ones(len(reference)))
    energy_wh = reference.prior_mean_wh + std_wh * rng.standard_normal(len(reference))
    model.update(Feedback(reference.id, reference.features, reference.prior_mean_wh, energy_wh))
    method = Method(model="independent", index="greedy", arms=arms)
    return LearnedBelief(model, over.space, method, setting)


def planners() -> dict[str, Planner]:
    """Return planners on Denver: by physics, and on beliefs about edges and turns."""
    setting = Setting(load_network("denver"), load_vehicle("reference"))
    ways = [("edges", 2.0), ("edges", 10.0), ("turns", 5.0)]
    beliefs = [random_belief(setting, arms, i, std) for i, (arms, std) in enumerate(ways)]
    network, vehicle = setting.network, setting.vehicle
    learned = {
        f"{arms} ± {std:.0f} Wh": Planner(network, vehicle, belief)
        for (arms, std), belief in zip(ways, beliefs, strict=True)
    }
    return {"physics": Planner(network, vehicle, physics="eq8")} | learned


def random_request(rng: np.random.Generator, planner: Planner) -> dict[str, Any]:
    """Return the arguments of one plan: places, battery, limit, alternatives."""
    places = rng.choice(planner.network.n_edges, 3, replace=False).tolist()
    battery = None
    if rng.random() < 0.5:
        capacity_wh = rng.uniform(150, 1500)
        soc, reserve = rng.choice([rng.uniform(20, 100), 100.0]), rng.uniform(0, 15)
        battery = Battery.of_percent(capacity_wh / 1000, soc, reserve)
    return {
        "origin": places[0],
        "destination": places[1],
        "via": places[2:] if rng.random() < 0.25 else [],
        "battery": battery,
        "max_extra_time": float(rng.choice([0, 0.05, 0.2])) if rng.random() < 0.5 else None,
        "alternatives": int(rng.integers(0, 4)),
        "price": 0.35,
        "time_value": float(rng.uniform(0, 20)) if rng.random() < 0.25 else None,
    }


def broken(planner: Planner, plan: Plan, request: dict[str, Any]) -> list[str]:
    """Return the promises that a plan breaks."""
    routes, found = plan.routes, []
    extra, reserve = request["max_extra_time"], request["battery"]
    limited = [name for name in routes if extra is None or name != "distance"]
    least_wh = routes["energy"].energy_wh
    if plan.proof.startswith("exact") and any(
        least_wh > routes[name].energy_wh + SAME for name in limited
    ):
        found.append("energy is the least")
    if extra is not None and any(
        routes[name].time_s > (1 + extra) * routes["time"].time_s + SAME for name in limited
    ):
        found.append("within the limit")
    if "cost" in routes and plan.proofs["cost"].startswith("exact"):
        costs = {name: plan.cost(name) for name in limited}
        if costs["cost"] > min(costs.values()) + SAME:
            found.append("cost is the least")
    if (
        "energy-limited" in routes
        and routes["energy-limited"].time_s > LIMIT * routes["time"].time_s
    ):
        found.append("recommended within 15 %")
    between = [name for name in routes if name.startswith("alternative")]
    for name in between:
        one = routes[name]
        others = [routes[other] for other in ("energy", "time", *between) if other != name]
        if any(o.time_s <= one.time_s and o.energy_wh <= one.energy_wh for o in others):
            found.append("alternatives are undominated")
    for one in routes.values():
        believed_wh = planner.prior.mean_wh
        if planner.belief is not None:
            believed_wh = planner.belief.model.posterior(planner.space.reference).mean_wh
        rise_wh = planner.states.head_wh - planner.states.tail_wh
        passed = planner.space.arms_of_route(one.route)
        shown_wh = np.maximum(believed_wh, rise_wh)[passed]
        lost_wh = one.charge.lost_wh if one.charge else 0.0
        if abs(shown_wh.sum() + lost_wh - one.energy_wh) > SAME:
            found.append("shown is searched")
        if abs(sum(one.parts_wh.values()) - one.energy_wh) > SAME:
            found.append("parts sum")
        if (
            one.energy_forecast
            and abs(one.energy_forecast.mean_wh + lost_wh - one.energy_wh) > SAME
        ):
            found.append("forecast is shown")
        if one.charge and reserve and one.charge.charge_wh.min() < reserve.reserve_wh - SAME:
            found.append("reserve is kept")
    return found


def check(count: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Return how often each kind of plan was made, and how often each promise was broken."""
    rng, seen, bad = np.random.default_rng(seed), Counter[str](), Counter[str]()
    known = planners()
    while seen["plans"] < count:
        name = str(rng.choice(list(known)))
        request = random_request(rng, known[name])
        try:
            mean = {"risk": "mean"} if request["battery"] else {}
            plan = known[name].plan(**request, **mean)
        except NoRouteError:
            seen["refused"] += 1
            continue
        seen["plans"] += 1
        seen[name] += 1
        seen[f"recommended {plan.recommended}"] += 1
        for option in ("battery", "max_extra_time", "via"):
            seen[option] += bool(request[option])
        seen["alternatives"] += sum(name.startswith("alternative") for name in plan.routes)
        seen["held"] += plan.routes["energy"].held_arms > 0
        seen["exact"] += plan.proof.startswith("exact")
        bad.update(broken(known[name], plan, request))
    return seen, bad


def follow_advice(count: int, seed: int) -> Counter[str]:
    """Return how often advice was followed, refused, and not the least."""
    rng, seen = np.random.default_rng(seed), Counter[str]()
    known = planners()
    while seen["followed"] < count:
        planner = known[str(rng.choice(list(known)))]
        request = random_request(rng, planner)
        kwh, soc = float(rng.uniform(0.02, 0.4)), float(rng.uniform(6, 100))
        reserve = float(rng.integers(0, 6))

        def refusal(
            kwh: float,
            soc: float,
            reserve: float = reserve,
            planner: Planner = planner,
            request: dict[str, Any] = request,
        ) -> str:
            """Return why there is no plan, or nothing."""
            battery = Battery.of_percent(kwh, soc, reserve)
            try:
                planner.plan(**request | {"battery": battery})
            except NoRouteError as error:
                return str(error)
            return ""

        message = refusal(kwh, soc)
        if advised := re.search(r"at least (\d+) %", message):
            enough, less = (kwh, int(advised[1])), (kwh, int(advised[1]) - 1)
            kind = "at least X %"
        elif advised := re.search(r"([\d.]+) kWh more", message):
            more = float(advised[1])
            enough, less = (kwh + more, 100.0), (kwh + more - 0.01, 100.0)
            kind = "Y kWh more"
        else:
            continue
        seen["followed"] += 1
        seen[kind] += 1
        seen["refused"] += bool(refusal(*enough))
        seen["less is enough"] += not refusal(*less)
    return seen


def held_arms(folder: str, plans: int = 300) -> str:
    """Return how often and by how much held arms change the energy of routes on a belief."""
    belief = load_belief(folder)
    planner, rng = Planner(belief.network, belief.vehicle, belief), np.random.default_rng(0)
    raised, held = [], int((planner.numbers.held_wh > SAME).sum())
    while len(raised) < plans:
        ends = rng.choice(belief.network.n_edges, 2, replace=False).tolist()
        try:
            raised.append(planner.plan(*ends).routes["energy"].held_wh)
        except NoRouteError:
            continue
    some = np.array([wh for wh in raised if wh > SAME])
    spread = f"median {np.median(some):.2f} Wh, most {some.max():.2f} Wh" if len(some) else "0 Wh"
    arms = len(planner.mean_wh)
    return f"{held} of {arms} arms held, on {len(some)} of {plans} routes: {spread}"


if __name__ == "__main__":
    what, argument = sys.argv[1:]
    if what == "held":
        print(held_arms(argument))
    elif what == "advice":
        print(
            ", ".join(
                f"{name} {number}" for name, number in follow_advice(int(argument), 0).items()
            )
        )
    else:
        seen, bad = check(int(argument), seed=0)
        print(", ".join(f"{name} {number}" for name, number in seen.items()))
        print("broken:", ", ".join(f"{name} {number}" for name, number in bad.items()) or "none")
        sys.exit(bool(bad))
