"""Random streams of a run, so that it can be played again, in whole or in part."""

from dataclasses import dataclass
from zlib import crc32

from numpy.random import SeedSequence

from evroute.experiments.runs import Run
from evroute.methods.setting import Setting


@dataclass(frozen=True, slots=True)
class Streams:
    """Random streams of the parts of a run.

    Parameters
    ----------
    world, policy, model, trips, audit
        Of the world, of the draws of indices and of models, of trips, and of random routes.
    """

    world: SeedSequence
    policy: SeedSequence
    model: SeedSequence
    trips: SeedSequence
    audit: SeedSequence


def streams(run: Run, setting: Setting) -> Streams:
    """Return the streams of a run, which depend on network, trip and seed only.

    Methods are therefore compared in the same worlds, and no method's draws depend on another's.

    Parameters
    ----------
    run, setting
        The run and its setting.
    """
    of_network, of_trip = crc32(setting.network.name.encode()), crc32(run.trip.encode())
    return Streams(*SeedSequence(run.seed, spawn_key=(of_network, of_trip)).spawn(5))
