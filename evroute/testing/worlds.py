"""The contract of worlds: `check_world`, on the network Denver."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.testing.base import ensure, equal, hold
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.environment import Environment
from evroute.worlds.world import World


@dataclass(frozen=True)
class Subject:
    """The part that the checks are run on, and its surroundings.

    Parameters
    ----------
    build
        Builds a world of a seed.
    setting
        Network, vehicle and prior.
    has_noise
        Whether measurements of one route differ between seeds.
    """

    build: Callable[[int], Environment]
    setting: Setting
    has_noise: bool = True


def check_world(options: type[World] | World, *, has_noise: bool = True) -> None:
    """Check that the environment of a world keeps the protocol `Environment`.

    Parameters
    ----------
    options
        A class of `World` with defaults for all its options, or a world.
    has_noise
        As in `Subject`.

    Raises
    ------
    ContractError
        With the sentence of the protocol that it breaks.
    """
    setting = _denver()
    made = _default(options) if isinstance(options, type) else options
    hold(CHECKS, Subject(partial(_built, made, setting), setting, has_noise))


def _default(options: type[World]) -> World:
    """Return the world of a class with its defaults. A plug-in leaves its kind to its name."""
    kind = options.model_fields["kind"]
    values = {"kind": options.__name__} if kind.is_required() else {}
    return options.model_validate(values)


@cache
def _denver() -> Setting:
    return Setting(load_network("denver"), load_vehicle("reference"))


def _built(world: World, setting: Setting, seed: int) -> Environment:
    return world.build(setting, Repeated(*setting.ends("A")), SeedSequence(seed))


def some_route(world: Environment, setting: Setting, t: int = 1, seed: int = 3) -> Route:
    """Return a legal route of a round under random weights.

    Parameters
    ----------
    world, setting
        A world and its setting.
    t
        The round.
    seed
        Seed of the weights.
    """
    request = world.observe(t)
    weights = np.full(setting.network.n_edges, np.inf)
    open_edges = request.arms.id
    spread = default_rng(seed).uniform(0.5, 2.0, len(open_edges))
    weights[open_edges] = setting.network.length_m[open_edges] * spread
    return setting.search.route(weights, request.origin, request.destination)


def rounds_depend_on_seed_and_number(subject: Subject) -> None:
    """A round depends on the seed and its number alone, not on earlier drives."""
    one, again = subject.build(0), subject.build(0)
    route = some_route(one, subject.setting, 3)
    for t in (1, 2):
        one.drive(one.observe(t), some_route(one, subject.setting, t))
    first, resumed = (world.drive(world.observe(3), route) for world in (one, again))
    equal(first.energy_wh, resumed.energy_wh, "energies of round 3")
    equal(first.travel_s, resumed.travel_s, "travel times of round 3")
    equal(one.observe(3).arms.features, again.observe(3).arms.features, "features of round 3")
    energies = one.route_wh(one.observe(3), route), again.route_wh(again.observe(3), route)
    ensure(energies[0] == energies[1], f"A route takes {energies[0]} and {energies[1]} Wh.")


def seeds_differ(subject: Subject) -> None:
    """Other seeds make other measurements."""
    if not subject.has_noise:
        return
    one, other = subject.build(0), subject.build(1)
    route = some_route(one, subject.setting)
    taken = [world.drive(world.observe(1), route).energy_wh for world in (one, other)]
    ensure(not np.array_equal(taken[0], taken[1]), "Here they are equal.")


def expectations_do_not_depend_on_drives(subject: Subject) -> None:
    """The expectation of a round does not depend on the route driven in it."""
    world = subject.build(0)
    request, route = world.observe(2), some_route(world, subject.setting, 2)
    before = world.expected_wh(request), world.travel_s(request), world.route_wh(request, route)
    world.drive(request, some_route(world, subject.setting, 2, seed=4))
    after = world.expected_wh(request), world.travel_s(request), world.route_wh(request, route)
    for one, other in zip(before, after, strict=True):
        equal(one, other, "expectations before and after")


def travel_times_are_positive(subject: Subject) -> None:
    """Every open edge has a travel time above 0 and a finite expected energy."""
    world = subject.build(0)
    request = world.observe(2)
    times, energies = world.travel_s(request), world.expected_wh(request)
    for values in (times, energies):
        shape = values.shape
        ensure(shape == (len(request.arms),), f"Of {len(request.arms)} arms the shape is {shape}.")
    ensure(bool(np.all(times > 0)), "One time is not.")
    ensure(bool(np.isfinite(energies).all()), "One energy is not finite.")


def measurements_are_of_the_route(subject: Subject) -> None:
    """A drive measures each edge of its route, in order."""
    world = subject.build(0)
    route = some_route(world, subject.setting)
    feedback = world.drive(world.observe(1), route)
    equal(feedback.id, np.array(route.edges), "edges of the route and of the measurements")
    ensure(bool(np.isfinite(feedback.energy_wh).all()), "An energy is not finite.")


def measurements_average_to_the_expectation(subject: Subject) -> None:
    """Measurements average to the expected energy of their route."""
    world, off_wh = subject.build(0), []
    route = some_route(world, subject.setting)
    for t in range(1, 201):
        request = world.observe(t)
        if np.isin(route.rows, request.arms.id).all():
            measured_wh = float(world.drive(request, route).energy_wh.sum())
            off_wh.append(measured_wh - world.route_wh(request, route))
    ensure(len(off_wh) > 50, f"The route is open in {len(off_wh)} of 200 rounds.")
    standard_error = float(np.std(off_wh, ddof=1)) / np.sqrt(len(off_wh))
    off = float(np.mean(off_wh))
    ensure(
        abs(off) < 4.5 * standard_error + 1e-6,
        f"They are {off:+.2f} Wh off, with a standard error of {standard_error:.2f} Wh.",
    )


CHECKS: tuple[Callable[[Subject], None], ...] = (
    rounds_depend_on_seed_and_number,
    seeds_differ,
    expectations_do_not_depend_on_drives,
    travel_times_are_positive,
    measurements_are_of_the_route,
    measurements_average_to_the_expectation,
)
