"""Options of the world that SUMO drives."""

import hashlib
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, require
from evroute.given import copy_of
from evroute.methods.setting import Setting
from evroute.network.catalog import source_path
from evroute.network.road_network import RoadNetwork
from evroute.worlds.world import World

if TYPE_CHECKING:
    from evroute.worlds.sumo_drive import Trace


class SumoOptions(World):
    """Options of the world driven by SUMO, with energies by its electric model (`trace_energy`).

    Parameters
    ----------
    net
        The .net.xml from which the network was read. By default the file in ``data/networks.toml``.
    temperature_c
        Air temperature, °C. Affects air density, heating and cooling (`energy.heating`).
    zones
        Number of round congested zones around edges drawn by the seed, at all hours.
    zone_radius_m
        Radius of the zones, m.
    zone_speed_factor
        Factor of the speed limits in the zones.
    speed_factor_std
        Deviation of the factor by which the driver of a trip obeys limits. SUMO's default is 0.1.
    survey_trips
        Largest number of trips that measure the true energies of edges (`sumo_survey`).
    truth_drives
        Number of drives of a route whose mean is its true expected energy.
    payload_kg
        Added to the vehicle's mass, kg.
    auxiliary_w
        Added to the vehicle's auxiliary power, W.
    wind_mps
        Steady wind, m/s.
    wind_from_deg
        Bearing from which the wind blows, degrees clockwise from north.
    """

    environment: ClassVar[str] = "evroute.worlds.sumo_world:SumoWorld"
    several_vehicles: ClassVar[bool] = True

    kind: Literal["sumo"] = "sumo"
    net: Path | None = None
    temperature_c: float | None = Field(None, ge=-50, le=50)
    zones: int = Field(0, ge=0)
    zone_radius_m: float = Field(500.0, gt=0)
    zone_speed_factor: float = Field(0.3, gt=0.02, le=1)
    speed_factor_std: float = Field(0.1, ge=0, le=0.5)
    survey_trips: int = Field(1000, ge=0)
    truth_drives: int = Field(5, ge=1)
    payload_kg: float = Field(0.0, ge=0, le=20_000)
    auxiliary_w: float = Field(0.0, ge=0, le=20_000)
    wind_mps: float = Field(0.0, ge=0, le=40)
    wind_from_deg: float = Field(0.0, ge=0, lt=360)

    @model_validator(mode="after")
    def _check(self) -> "SumoOptions":
        for name in ("zone_radius_m", "zone_speed_factor"):
            require(
                self.zones or getattr(self, name) == type(self).model_fields[name].default,
                f"{name} does nothing without zones",
                ValueError,
            )
        return self

    def source(self, setting: Setting) -> Path:
        """Return the SUMO network file.

        Raises
        ------
        EvrouteError
            If no file is given and none is known.
        """
        source = copy_of(self._file_name(setting)) or self.net or source_path(setting.network.name)
        if source is None:
            raise EvrouteError(
                f"world {self.label}: no .net.xml of network '{setting.network.name}' is at hand. "
                "Set EVROUTE_DATA_DIR, or give option net"
            )
        require(source.is_file(), f"world {self.label}: net {source} does not exist")
        return source

    def files(self, setting: Setting) -> dict[str, Path]:
        """Return SUMO's network."""
        return {self._file_name(setting): self.source(setting)}

    def _file_name(self, setting: Setting) -> str:
        """Return the name of SUMO's network for workers."""
        return str(self.net or f"{setting.network.name}.net.xml")

    def provenance(self, setting: Setting) -> dict[str, Any]:
        """Return the digest of SUMO's network and the version of SUMO."""
        digest = hashlib.sha256(self.source(setting).read_bytes()).hexdigest()
        try:
            libsumo = version("libsumo")
        except PackageNotFoundError:
            raise EvrouteError(
                "libsumo is missing. Install it with: pip install 'evroute[sumo]'"
            ) from None
        return {"net_sha256": digest, "libsumo": libsumo, "note": f"driven by libsumo {libsumo}"}

    @property
    def conditions(self) -> DrivingConditions:
        """The driving conditions of the day."""
        return DrivingConditions(
            temperature_c=self.temperature_c,
            payload_kg=self.payload_kg,
            wind_mps=self.wind_mps,
            wind_from_deg=self.wind_from_deg,
        )

    def true_vehicle(self, assumed: Vehicle) -> Vehicle:
        """Return the vehicle with the true parameters of this world.

        Raises
        ------
        EvrouteError
            If a parameter is outside the range of a vehicle.
        """
        return self.conditions.load(self.equipped(assumed))

    def equipped(self, assumed: Vehicle) -> Vehicle:
        """Return the vehicle with the additional auxiliary power."""
        return replace(assumed, auxiliary_w=assumed.auxiliary_w + self.auxiliary_w)

    def energy_wh(self, trace: "Trace", network: RoadNetwork, assumed: Vehicle) -> FloatArray:
        """Return the battery energy of each edge of a trace, (k,) Wh.

        Parameters
        ----------
        trace
            Speeds of a drive over k edges.
        network
            Road network of the trace.
        assumed
            Vehicle assumed by the learner.
        """
        from evroute.worlds import trace_energy

        day = self.conditions
        vehicle, headwind_mps = self.true_vehicle(assumed), day.headwind_mps(network)
        return trace_energy.energy_wh(trace, network, vehicle, headwind_mps, day.air_density_kgpm3)
