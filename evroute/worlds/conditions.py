"""Conditions: in what the truth of a ``physics`` world departs from what eq. 8 assumes; each is off by default."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import SeedSequence, default_rng
from pydantic import AfterValidator, Field, ValidationError, model_validator

from evroute.energy.driving import hvac_w
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.worlds.demand.trips import S_PER_H
from evroute.worlds.world import World

TEMPERATURES_C = -50.0, 50.0


def _hours(hours: tuple[float, float]) -> tuple[float, float]:
    if not 0 <= hours[0] < hours[1] <= 24:
        raise ValueError(
            f"hours {list(hours)} must run from an earlier to a later hour within 0..24"
        )
    return hours


class Conditions(World):
    """Options of the world whose truth is eq. 8 with parameters of its own.

    payload_kg: on top of the vehicle's mass; it climbs, rolls and accelerates.
    rolling_factor: of the rolling coefficient. ISO 28580 corrects that of car tyres by 0.8 % per
    kelvin: 1.2 at 0 °C against 25 °C.
    drag_factor: of the drag coefficient: a roof box, open windows.
    wind_mps, wind_from_deg: a steady wind and the bearing it blows from, clockwise from the map's
    north. Drag goes with the signed square of ``speed + headwind``, the headwind along the line
    between the edge's two junctions; what side wind adds (Hucho, *Aerodynamics of Road Vehicles*)
    is left out.
    temperature_c: changes the air's density (ideal gas at 1,013.25 hPa, ISO 2533) and adds
    `energy.driving.hvac_w`.  temperature_std_k: trips meet temperatures of their own, normal around
    it, within -50 and 50 °C; the learner's contexts then tell them (`simulation.setting`), its
    prior means do not, and no context ever repeats.
    auxiliary_w: on top of the vehicle's own, times the true travel time.
    zones, zone_radius_m, zone_speed_factor, zone_hours: round congested zones around edges drawn by
    the seed, in which speeds fall to that share, always or in ``[from, to]`` hours of the day. At
    0.3 and below the Highway Capacity Manual 2010 speaks of level of service F on urban streets.
    congestion_known: the learner's contexts and prior means know the speeds of the hour; else it
    assumes free flow.
    closed_share: of the edges, closed anew in each round.
    kinetic: entering an edge from another changes the speed at once, and with it the kinetic
    energy, at the efficiencies of eq. 8; from_standstill: so does the start of a trip;
    turn_braking: cars brake for the angle of a turn and lose what `energy.turn_prior` says.
    noise_share, noise_spread: one measurement of edge e deviates by ``noise_share r_e s_e``, with
    s_e what the edge dissipates and r_e log-normal of mean 1 with deviation ``noise_spread`` of its
    logarithm, drawn by the seed.
    trip_std: of the factor b that all edges of a trip share; they take ``b s_e`` more.
    time_std: of the logarithm of the factor that all travel times of a trip share, as measured.
    In SUMO edges showed noise of 1 to 28 Wh, and routes 1.65 times what independent noise would
    give.
    """

    several_vehicles: ClassVar[bool] = True
    environment: ClassVar[str] = "evroute.worlds.physics:Physics"

    kind: Literal["physics"] = "physics"
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

    @model_validator(mode="after")
    def _check(self) -> "Conditions":
        needs = {
            "wind_mps": ("wind_from_deg",),
            "zones": ("zone_radius_m", "zone_speed_factor", "zone_hours", "congestion_known"),
            "kinetic": ("from_standstill", "turn_braking"),
            "noise_share": ("noise_spread",),
        }
        for what, idle in needs.items():
            given = [
                name
                for name in idle
                if getattr(self, name) != type(self).model_fields[name].default
            ]
            if given and not getattr(self, what):
                raise ValueError(f"{given[0]} does nothing without {what}")
        if self.temperature_std_k and self.temperature_c is None:
            raise ValueError("temperature_std_k does nothing without temperature_c")
        return self

    @property
    def tells_temperature(self) -> bool:
        """Whether contexts tell it."""
        return self.temperature_std_k > 0

    def true_vehicle(self, assumed: Vehicle, temperature_c: float | None) -> Vehicle:
        """Return the vehicle as it is in this world at a temperature.

        Raises
        ------
        EvrouteError
            If that is no vehicle any more.
        """
        hvac = 0.0 if temperature_c is None else hvac_w(temperature_c)
        try:
            return replace(
                assumed,
                mass_kg=assumed.mass_kg + self.payload_kg,
                rolling=assumed.rolling * self.rolling_factor,
                drag=assumed.drag * self.drag_factor,
                auxiliary_w=assumed.auxiliary_w + self.auxiliary_w + hvac,
            )
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(str(part) for part in problem["loc"])
            raise EvrouteError(
                f"world {self.label}: {field} of vehicle '{assumed.name}': {problem['msg']}"
            ) from None

    def temperature_of(self, seeds: SeedSequence) -> float | None:
        """Return the temperature that a trip meets, °C, drawn where trips differ."""
        if self.temperature_c is None or not self.temperature_std_k:
            return self.temperature_c
        drawn_c = default_rng(seeds).normal(self.temperature_c, self.temperature_std_k)
        return float(np.clip(drawn_c, *TEMPERATURES_C))

    def congested(self, departed_s: float) -> bool:
        """Tell whether the zones are congested for a trip that departs then, s since some midnight."""
        if not self.zones:
            return False
        hour = departed_s / S_PER_H % 24
        return not self.zone_hours or any(start <= hour < end for start, end in self.zone_hours)
