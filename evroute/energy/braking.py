"""Braking: energy that a car loses by slowing down, saves and returns."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import GRAVITY_MPS2, J_PER_WH
from evroute.energy.free_flow import BRAKING_MPS2
from evroute.energy.vehicle import Vehicle


@dataclass(frozen=True, slots=True)
class Braking:
    """Braking of a vehicle.

    Parameters
    ----------
    vehicle
        Mass, resistances and efficiencies, loaded.
    air_density_kgpm3
        Density of the air.
    gentle
        Whether drivers brake at `free_flow.BRAKING_MPS2`. Rolling resistance and drag then take
        their part of the kinetic energy, which the car need not take from the battery. It brakes
        the rest: none where they are stronger than drivers brake. Otherwise cars brake at once.
    """

    vehicle: Vehicle
    air_density_kgpm3: float
    gentle: bool

    def kinetic_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return the kinetic energy at speeds (a,), Wh."""
        return 0.5 * self.vehicle.mass_kg * speed_mps**2 / J_PER_WH

    def round_trip_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return the energy lost by stopping from speeds and reaching them again, (a,) Wh."""
        car = self.vehicle
        lost = 1.0 / car.propulsion_efficiency - car.recuperation_efficiency
        if not self.gentle:
            return self.kinetic_wh(speed_mps) * lost
        braked = max(1.0 - GRAVITY_MPS2 * car.rolling / BRAKING_MPS2, 0.0)
        drag_kgpm = 0.5 * self.air_density_kgpm3 * car.drag * car.front_m2
        coasting = drag_kgpm / (car.mass_kg * BRAKING_MPS2)
        most = braked / coasting if coasting else np.inf
        square = np.minimum(speed_mps**2, most)
        return 0.5 * car.mass_kg * square * (braked - 0.5 * coasting * square) / J_PER_WH * lost

    def slowed_wh(self, before_mps: FloatArray, after_mps: FloatArray) -> FloatArray:
        """Return the energy of braking from speeds to lower ones (a,), Wh, at most 0.

        Energy that the road takes while the car brakes is saved. The rest of the kinetic energy
        returns some. It is never more than the kinetic energy.
        """
        kinetic_wh = self.kinetic_wh(before_mps) - self.kinetic_wh(after_mps)
        lost_wh = self.round_trip_wh(before_mps) - self.round_trip_wh(after_mps)
        return -np.minimum(kinetic_wh / self.vehicle.propulsion_efficiency - lost_wh, kinetic_wh)
