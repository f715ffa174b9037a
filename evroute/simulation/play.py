"""Playing one run: a method drives trips in a world, and everything about it lands in the run folder."""

from collections.abc import Callable
from zlib import crc32

import scipy.linalg  # noqa: F401  brings its own BLAS, which can be limited only once it is loaded
from numpy.random import SeedSequence, default_rng
from threadpoolctl import threadpool_limits

from evroute.model.refitting import Refitting
from evroute.planning.search import Search
from evroute.planning.turn_belief import TurnBelief
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.conformal import AdaptiveConformal
from evroute.policy.guard import DEFAULT_SHARE, Guarded
from evroute.simulation import belief
from evroute.simulation.audit import Audit
from evroute.simulation.demand.demand import load_demand
from evroute.simulation.loop import run as run_loop
from evroute.simulation.methods import make_index, make_model, make_space
from evroute.simulation.parts import MODELS, named
from evroute.simulation.regret import Judge
from evroute.simulation.runs import Run, RunFolder
from evroute.simulation.setting import load_setting


def play(run: Run, folder: RunFolder, on_round: Callable[[int], None]) -> None:
    """Carry out one run and write its files.

    The streams of random numbers depend on the network, the trip and the seed alone: methods are compared in the same
    worlds, and no method's draws depend on another's.
    """
    method = run.method
    named(MODELS, "model", method.model)  # torch brings threads of its own, which can be limited once it is loaded
    with threadpool_limits(1):
        setting = load_setting(run.network, run.vehicle, run.prior, run.lengthscale)
        lengthscale = run.lengthscale * (method.lengthscale_factor or 1.0)
        believed = load_setting(run.network, run.vehicle, run.prior, lengthscale)
        names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
        world_seeds, policy_seeds, model_seeds, trip_seeds, audit_seeds = SeedSequence(
            run.seed, spawn_key=names
        ).spawn(5)
        world = run.world.build(setting, load_demand(run.trip, setting, trip_seeds), world_seeds)
        rule = WEIGHT_RULES[run.search]
        own = {"rng": default_rng(model_seeds)} | ({} if believed is setting else {"prior_factor": None})
        model = make_model(method, believed, own)
        search = Search(setting.line_graph)
        space = make_space(method, setting)
        learner = Agent(
            model=model,
            index=make_index(method, setting),
            weight_rule=rule,
            search=search,
            potential_wh=setting.potential_wh,
            rng=default_rng(policy_seeds),
            space=space,
        )
        agent: Agent | Guarded = learner
        if method.guard:
            share = DEFAULT_SHARE if method.guard is True else method.guard
            agent = Guarded(learner, search=setting.search, potential_wh=setting.potential_wh, share=share)
        judge = Judge(
            network=setting.network,
            search=setting.search,
            weight_rule=rule,
            noise_std_wh=setting.noise_std_wh,
            potential_wh=setting.potential_wh,
        )
        audit = Audit(search=setting.search, potential_wh=setting.potential_wh, seeds=audit_seeds)
        conformal = AdaptiveConformal()
        log = run_loop(
            agent,
            world,
            judge,
            horizon=run.horizon,
            on_round=on_round,
            in_flight=run.in_flight,
            conformal=conformal,
            audit=audit if run.audit else None,
        )
        learned = TurnBelief(model, space, setting.arms) if space else model
        belief.save(folder.belief_path(run.name), learned, method=method, setting=believed, conformal=conformal)
        if isinstance(model, Refitting):
            folder.write_fits(run.name, model.fits)
        folder.write(run, log)
