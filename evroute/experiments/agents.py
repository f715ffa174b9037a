"""Agents of a run: one, or one for each vehicle that its trips name, with beliefs of their own or a common one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from numpy.random import SeedSequence, default_rng

from evroute.errors import EvrouteError
from evroute.experiments.regret import FleetRegretScorer, RegretScorer
from evroute.experiments.runs import Run
from evroute.methods.method import Method, make_index, make_model, make_space, setting_of
from evroute.methods.parts import MODELS, made_by, named, needs_of
from evroute.methods.setting import Setting, load_setting
from evroute.model.base import Anticipates, EnergyModel, HasDiagnostics, HasJoint
from evroute.model.fleet_view import FleetJointView, FleetView
from evroute.planning.arm_space import SearchSpace
from evroute.planning.corridor import Corridor
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent, lacking
from evroute.policy.fleet import Fleet
from evroute.policy.guard import DEFAULT_SHARE, Guarded
from evroute.worlds.environment import child


@dataclass(frozen=True, slots=True)
class Learner:
    """The agent of one vehicle and its parts.

    Parameters
    ----------
    agent, model
        The agent, and the model that it learns.
    space
        The arms of the model.
    setting
        Network, vehicle and prior of the model, over the same arms.
    """

    agent: Agent | Guarded
    model: EnergyModel
    space: SearchSpace
    setting: Setting


def make_learners(
    run: Run, vehicles: Sequence[str], policy_seeds: SeedSequence, model_seeds: SeedSequence
) -> dict[str, Learner]:
    """Return a learner for each vehicle, the first of which is the run's own, by the names that trips have for them.

    The run's own draws from the streams as if it were alone; the others from streams by their
    names.
    """
    learners: dict[str, Learner] = {}
    for vehicle in vehicles:
        streams = (policy_seeds, model_seeds)
        if vehicle:
            streams = (child(policy_seeds, _key(vehicle)), child(model_seeds, _key(vehicle)))
        learners[vehicle] = _learner(
            run, vehicle, *streams, first=learners.get("") if run.share_belief else None
        )
    return learners


def joined(learners: dict[str, Learner]) -> Agent | Guarded | Fleet:
    """Return what drives them all."""
    if len(learners) == 1:
        return learners[""].agent
    return Fleet({vehicle: learner.agent for vehicle, learner in learners.items()})


def make_scorer(run: Run, vehicles: Sequence[str]) -> RegretScorer | FleetRegretScorer:
    """Return what scores the run's routes."""
    judges = {}
    for vehicle in vehicles:
        setting = _setting(run, vehicle)
        judges[vehicle] = RegretScorer(
            network=setting.network,
            search=setting.search,
            weight_rule=WEIGHT_RULES[run.search],
            noise_std_wh=setting.noise_std_wh,
            potential_wh=setting.potential_wh,
        )
    return judges[""] if len(judges) == 1 else FleetRegretScorer(judges)


def check_shared(method: Method) -> None:
    """Check that a method can learn for several vehicles at once.

    Raises
    ------
    EvrouteError
        If its model keeps books by trip, or its index asks for more than scales from one vehicle to
        another.
    """
    model, needs = made_by(named(MODELS, "model", method.model)), needs_of(method.index)
    if not lacking(model, Anticipates) or not lacking(model, HasDiagnostics):
        what = f"model '{method.model}' keeps books of its trips in watt-hours of one vehicle"
    elif missing := lacking(FleetJointView, needs):
        what = (
            f"index '{method.index}' needs {', '.join(missing)}, which do not scale from one "
            "vehicle to another"
        )
    else:
        return
    raise EvrouteError(f"share_belief: {what}; leave it out, then each vehicle learns for itself")


def check_vehicles(trip: str, vehicles: Sequence[str], run_vehicle: str) -> None:
    """Check that beliefs of vehicles can be told apart by name.

    Raises
    ------
    EvrouteError
        If two vehicle files have the same name.
    """
    names = [Path(vehicle).stem for vehicle in (*vehicles, run_vehicle)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise EvrouteError(
            f"trips {trip} name two vehicles called '{twice[0]}'; rename one of the files"
        )


def _learner(
    run: Run,
    vehicle: str,
    policy_seeds: SeedSequence,
    model_seeds: SeedSequence,
    *,
    first: Learner | None,
) -> Learner:
    method, setting = run.method, _setting(run, vehicle)
    believed = _setting(run, vehicle, run.lengthscale * (method.lengthscale_factor or 1.0))
    over_arms = setting_of(method, believed)
    if first is None:
        own = {"rng": default_rng(model_seeds)} | (
            {} if believed is setting else {"prior_factor": None}
        )
        model, space = make_model(method, believed, own), make_space(method, setting)
    else:
        model, space = _shared(first, over_arms), first.space
    agent = Agent(
        model=model,
        index=make_index(method, setting),
        weight_rule=WEIGHT_RULES[run.search],
        space=Corridor(space.edges, method.corridor) if method.corridor else space,
        rng=default_rng(policy_seeds),
    )
    if not method.guard:
        return Learner(agent, model, space, over_arms)
    share = DEFAULT_SHARE if method.guard is True else method.guard
    return Learner(Guarded(agent, setting.edges, share=share), model, space, over_arms)


def _shared(first: Learner, setting: Setting) -> FleetView:
    """Return the model of the first vehicle as another sees it."""
    seen = FleetJointView if isinstance(first.model, HasJoint) else FleetView
    own, reference = setting.prior, first.setting.prior
    return seen(
        first.model,
        prior_wh=own.mean_wh,
        potential_wh=own.potential_wh,
        reference_prior_wh=reference.mean_wh,
        reference_potential_wh=reference.potential_wh,
    )


def _setting(run: Run, vehicle: str, lengthscale: float | None = None) -> Setting:
    known = run.world.tells_temperature
    return load_setting(
        run.network, vehicle or run.vehicle, run.prior, lengthscale or run.lengthscale, known
    )


def _key(vehicle: str) -> int:
    return crc32(vehicle.encode())
