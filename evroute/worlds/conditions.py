"""Conditions: departures of the true energies of a ``physics`` world from eq. 8, off by default.

Other kinds of world (`rough`, `drift`, `daily`) are subclasses in `congestion`: they override the
methods that choose the congested zones, the factor of the dissipated energy, and the factors of a
trip.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import AfterValidator, Field, ValidationError, model_validator

from evroute.arrays import FloatArray
from evroute.energy.heating import COOLED_ABOVE_C, HEAT_PUMP, HEATED_BELOW_C, HVAC_MAX_W
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, require
from evroute.network.road_network import RoadNetwork
from evroute.validation.invalid import first_problem
from evroute.worlds.demand.trips import S_PER_H
from evroute.worlds.world import World

TEMPERATURES_C = -50.0, 50.0
WARM_WH, COOL_WH = 2.0, 1.7
"""Energy of a warm and of a cooled cabin, Wh per K and minute: the same in every version, unlike
the physics of plans (`energy.heating`)."""


def warm_cabin_w(temperature_c: float, vehicle: Vehicle) -> float:
    """Return the power of heating or cooling a warm cabin in these worlds, W.

    Parameters
    ----------
    temperature_c
        Outside temperature, °C.
    vehicle
        The car, which may have a heat pump or no heater.
    """
    if vehicle.heater == "none":
        return 0.0
    per_k = WARM_WH * (HEAT_PUMP if vehicle.heater == "heat-pump" else 1.0)
    below_k = max(HEATED_BELOW_C - temperature_c, 0.0)
    above_k = max(temperature_c - COOLED_ABOVE_C, 0.0)
    limit = min(1.0, HVAC_MAX_W / max(60.0 * per_k * below_k, 1.0))
    return 60.0 * (limit * below_k * per_k + above_k * COOL_WH)


def _hours(hours: tuple[float, float]) -> tuple[float, float]:
    require(
        0 <= hours[0] < hours[1] <= 24,
        f"hours {list(hours)} must run from an earlier to a later hour within 0..24",
        ValueError,
    )
    return hours


class Conditions(World):
    """Options of the world whose true energies are eq. 8 with other parameters.

    Parameters
    ----------
    payload_kg
        Added to the vehicle's mass, kg. Affects climb, rolling and acceleration.
    rolling_factor
        Factor of the rolling coefficient. ISO 28580 corrects the coefficient of car tyres by 0.8
        % per kelvin: 1.2 at 0 °C against 25 °C.
    drag_factor
        Factor of the drag coefficient, as for a roof box or open windows.
    wind_mps
        Steady wind, m/s. Drag is proportional to the signed square of ``speed + headwind``, with
        the headwind along the line between the edge's two junctions. The effect of side wind
        (Hucho, *Aerodynamics of Road Vehicles*) is neglected.
    wind_from_deg
        Bearing from which the wind blows, degrees clockwise from the map's north.
    temperature_c
        Air temperature, °C. It changes the air density (ideal gas at 1,013.25 hPa, ISO 2533) and
        adds `warm_cabin_w`.
    temperature_std_k
        Standard deviation of the temperature between trips, normal around ``temperature_c``
        within -50 and 50 °C. The temperature is then a context feature (`methods.setting`). Prior
        means do not use it, and no context repeats.
    auxiliary_w
        Added to the vehicle's auxiliary power, W, over the true travel time.
    zones
        Number of round congested zones around edges drawn by the seed.
    zone_radius_m
        Radius of the zones, m.
    zone_speed_factor
        Factor of the speeds in congested zones. At 0.3 and below the Highway Capacity Manual 2010
        assigns level of service F on urban streets.
    zone_hours
        Hours of congestion, ``[from, to]`` each. Always if empty.
    congestion_known
        Contexts and prior means of the learner use the speeds of the hour, otherwise free flow.
    closed_share
        Share of the edges that are closed, drawn anew in each round.
    kinetic
        Count the kinetic energy of the speed change between two edges, at the efficiencies of eq.
        8.
    from_standstill
        Count the kinetic energy of the start of a trip too.
    turn_braking
        Cars brake for the angle of a turn and lose the energy of `energy.turn_prior`.
    noise_share
        Noise deviation of one measurement as a share of the dissipated energy: ``noise_share r_e
        s_e``, with dissipated energy s_e and log-normal r_e of mean 1. In SUMO edges showed noise
        of 1 to 28 Wh.
    noise_spread
        Deviation of ``log r_e``, drawn by the seed.
    trip_std
        Deviation of a factor b common to all edges of a trip, which take ``b s_e`` more. In SUMO
        the noise of routes was 1.65 times the noise of independent edges.
    time_std
        Deviation of the logarithm of a factor common to all measured travel times of a trip.
    edge_time_std
        Deviation of the logarithm of a further factor of each measured travel time.
    """

    several_vehicles: ClassVar[bool] = True
    environment: ClassVar[str] = "evroute.worlds.physics:Physics"
    zone_sets: ClassVar[int] = 1
    """Number of sets of zones, each drawn by the seed. At most one is congested at a time."""

    kind: str = "physics"
    payload_kg: float = Field(0.0, ge=0)
    rolling_factor: float = Field(1.0, gt=0)
    drag_factor: float = Field(1.0, gt=0)
    wind_mps: float = Field(0.0, ge=0, le=40)
    wind_from_deg: float = Field(0.0, ge=0, lt=360)
    temperature_c: float | None = Field(None, ge=-50, le=50)
    temperature_std_k: float = Field(0.0, ge=0, le=30)
    auxiliary_w: float = Field(0.0, ge=0)
    zones: int = Field(0, ge=0)
    zone_radius_m: float = Field(500.0, gt=0)
    zone_speed_factor: float = Field(0.3, gt=0, le=1)
    zone_hours: tuple[Annotated[tuple[float, float], AfterValidator(_hours)], ...] = ()
    congestion_known: bool = False
    closed_share: float = Field(0.0, ge=0, lt=1)
    kinetic: bool = False
    from_standstill: bool = False
    turn_braking: bool = False
    noise_share: float = Field(0.0, ge=0)
    noise_spread: float = Field(0.0, ge=0, le=3)
    trip_std: float = Field(0.0, ge=0)
    time_std: float = Field(0.0, ge=0, le=1)
    edge_time_std: float = Field(0.0, ge=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> "Conditions":
        needs = {
            "wind_mps": ("wind_from_deg",),
            "zones": ("zone_radius_m", "zone_speed_factor", "zone_hours", "congestion_known"),
            "kinetic": ("from_standstill", "turn_braking"),
            "noise_share": ("noise_spread",),
        }
        for option, dependents in needs.items():
            given = [
                name
                for name in dependents
                if getattr(self, name) != type(self).model_fields[name].default
            ]
            if given and not getattr(self, option):
                raise ValueError(f"{given[0]} does nothing without {option}")
        require(
            not self.temperature_std_k or self.temperature_c is not None,
            "temperature_std_k does nothing without temperature_c",
            ValueError,
        )
        return self

    @property
    def tells_temperature(self) -> bool:
        """Whether the contexts include the temperature."""
        return self.temperature_std_k > 0

    def true_vehicle(self, assumed: Vehicle, temperature_c: float | None) -> Vehicle:
        """Return the vehicle with the true parameters of this world at a temperature.

        Raises
        ------
        EvrouteError
            If a parameter is outside the range of a vehicle.
        """
        hvac = 0.0 if temperature_c is None else warm_cabin_w(temperature_c, assumed)
        try:
            return replace(
                assumed,
                mass_kg=assumed.mass_kg + self.payload_kg,
                rolling=assumed.rolling * self.rolling_factor,
                drag=assumed.drag * self.drag_factor,
                auxiliary_w=assumed.auxiliary_w + self.auxiliary_w + hvac,
            )
        except ValidationError as error:
            raise EvrouteError(
                f"world {self.label}: vehicle '{assumed.name}': {first_problem(error)}"
            ) from None

    def temperature_of(self, seeds: np.random.SeedSequence) -> float | None:
        """Return the temperature of a trip, °C, random if it varies between trips."""
        if self.temperature_c is None or not self.temperature_std_k:
            return self.temperature_c
        drawn_c = np.random.default_rng(seeds).normal(self.temperature_c, self.temperature_std_k)
        return float(np.clip(drawn_c, *TEMPERATURES_C))

    def congested_zones(self, t: int, departed_s: float) -> int:
        """Return the set of zones that is congested in a round, from 1, or 0 for none.

        Parameters
        ----------
        t
            Round, from 1.
        departed_s
            Departure, s since midnight.
        """
        if not self.zones:
            return 0
        hour = departed_s / S_PER_H % 24
        return int(
            not self.zone_hours or any(start <= hour < end for start, end in self.zone_hours)
        )

    def dissipation_factor(self, network: RoadNetwork, rng: np.random.Generator) -> FloatArray:
        """Return the factor of the dissipated energy of each edge, (n,)."""
        return np.ones(network.n_edges)

    def trip_deviates(self, rng: np.random.Generator) -> FloatArray:
        """Return the deviates of a trip's energy and time, (2,), of mean 0 and variance 1."""
        return rng.standard_normal(2)
