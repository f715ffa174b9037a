"""Battery energy of a driven trace by FASTSim 3 (NREL), whose models of real cars are not eq. 8.

Efficiencies depend on power, motor power and regeneration are limited, wheels have inertia, and
cabin and battery are heated or cooled if the model has them. Energy is that of the cells, their
losses included.

Each trip begins half charged, so that regeneration is possible, with cabin and battery at 22 °C.
If the motor cannot follow the trace, the car drives as fast as it can. FASTSim 3.1.0 stops with
an error if a car brakes with more power than its motor accepts, instead of using friction brakes;
so these are added as a road force where needed.
"""

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.driving import ZERO_C_K
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.worlds.sumo_drive import STEP_S, Trace
from evroute.worlds.trace_energy import incline_sin

MODELS = {
    "bolt": "2020 Chevrolet Bolt EV thrml.yaml",
    "leaf": "2016 Nissan Leaf 30 kWh thrml.yaml",
    "model-3": "2022 Tesla Model 3 RWD thrml.yaml",
    "zoe": "2022_Renault_Zoe_ZE50_R135.yaml",
}
"""The battery cars shipped with FASTSim; zoe has neither cabin nor battery temperature."""
STATE_OF_CHARGE = 0.5
WHEELS = 1.03
"""Ratio of the accelerated mass, rotating wheels included, to the mass."""
USED = 0.9
"""Share of the motor's power that is used."""


def energy_wh(
    trace: Trace, network: RoadNetwork, model: str, temperature_c: float | None
) -> FloatArray:
    """Return the battery energy of each edge of a trace, (k,) Wh.

    Parameters
    ----------
    trace
        Speeds of a drive over k edges.
    network
        Road network of the trace.
    model
        Car model, a key of `MODELS`.
    temperature_c
        Air temperature, °C; None for FASTSim's default.

    Raises
    ------
    EvrouteError
        If FASTSim is missing, or its solver fails on the trace.
    """
    fastsim = _fastsim()
    motor = _motor(model)
    road = incline_sin(trace, network)
    speed_mps = motor.followed_mps(trace.speed_mps, road)
    incline = road + motor.brakes(speed_mps, road)
    steps = len(trace.speed_mps)
    cycle = {
        "time_seconds": (STEP_S * np.arange(steps)).tolist(),
        "speed_meters_per_second": speed_mps.tolist(),
        "grade": incline.tolist(),  # FASTSim multiplies the weight by this sine
    }
    if temperature_c is not None:
        cycle["temp_amb_air_kelvin"] = [temperature_c + ZERO_C_K] * steps
    drive = fastsim.SimDrive(_car(model), fastsim.Cycle.from_dict(cycle), _leave_to_miss())
    try:
        drive.run_once()
    except RuntimeError as error:
        raise EvrouteError(f"FASTSim's {model} fails on a trip: {_message(error)}") from None
    battery = drive.to_dict()["veh"]["pt_type"]["BEV"]["res"]["history"]
    energy_j = np.diff(battery["energy_out_chemical_joules"], prepend=0.0)
    return trace.by_edge(energy_j / J_PER_WH, network.length_m[trace.rows])


@dataclass(frozen=True, slots=True)
class _Motor:
    """Limits of a car's motor at the wheels.

    driving_w and braking_w are largest powers, W; drag_kgpm is A c_w rho / 2.
    """

    mass_kg: float
    driving_w: float
    braking_w: float
    drag_kgpm: float
    rolling: float

    def followed_mps(self, speed_mps: FloatArray, incline: FloatArray) -> FloatArray:
        """Return the speeds (s,) of a car that follows a trace as fast as its motor can."""
        followed = speed_mps.copy()
        weight_n = self.mass_kg * GRAVITY_MPS2 * (incline + self.rolling)
        force_n = (
            self.driving_w / np.maximum(speed_mps, 1.0) - weight_n - self.drag_kgpm * speed_mps**2
        )
        most_mps = force_n / (WHEELS * self.mass_kg) * STEP_S
        for i in range(1, len(followed)):
            followed[i] = max(min(speed_mps[i], followed[i - 1] + most_mps[i]), 0.0)
        return followed

    def brakes(self, speed_mps: FloatArray, incline: FloatArray) -> FloatArray:
        """Return the sines (s,) to add to the inclines so that the motor alone can brake."""
        before_mps = np.concatenate([[0.0], speed_mps[:-1]])
        mean_mps = 0.5 * (speed_mps + before_mps)
        accelerating_w = WHEELS * self.mass_kg * (speed_mps - before_mps) / STEP_S * mean_mps
        weight_w = self.mass_kg * GRAVITY_MPS2 * mean_mps
        excess_w = np.maximum(-(accelerating_w + weight_w * incline) - self.braking_w, 0.0)
        added: FloatArray = excess_w / np.where(weight_w > 0, weight_w, 1.0)
        return added


@cache
def _motor(model: str) -> _Motor:
    fastsim = _fastsim()
    cycle = {"time_seconds": [0.0, 1.0, 2.0], "speed_meters_per_second": [0.0, 1.0, 2.0]}
    drive = fastsim.SimDrive(_car(model), fastsim.Cycle.from_dict(cycle), _leave_to_miss())
    drive.run_once()
    car = drive.to_dict()["veh"]
    chassis, limits = car["chassis"], car["history"]
    return _Motor(
        mass_kg=car["mass_kilograms"],
        driving_w=USED * min(limits["pwr_prop_fwd_max_watts"][1:]),
        braking_w=USED * min(limits["pwr_prop_bwd_max_watts"][1:]),
        drag_kgpm=0.5
        * AIR_DENSITY_KGPM3
        * chassis["drag_coef"]
        * chassis["frontal_area_square_meters"],
        rolling=chassis["wheel_rr_coef"],
    )


@cache
def _car(model: str) -> Any:
    fastsim = _fastsim()
    car = fastsim.Vehicle.from_resource(MODELS[model]).to_dict()
    car["pt_type"]["BEV"]["res"]["state"]["soc"] = STATE_OF_CHARGE
    return fastsim.Vehicle.from_dict(car)


@cache
def _leave_to_miss() -> Any:
    fastsim = _fastsim()
    standing = fastsim.Cycle.from_dict(
        {"time_seconds": [0.0, 1.0], "speed_meters_per_second": [0.0, 0.0]}
    )
    parameters = fastsim.SimDrive(_car("zoe"), standing).to_dict()["sim_params"]
    return fastsim.SimParams.from_dict(parameters | {"trace_miss_opts": "Allow"})


def _message(error: RuntimeError) -> str:
    return " ".join(str(error).split("Stack backtrace")[0].split())


def _fastsim() -> Any:
    try:
        return importlib.import_module("fastsim")
    except ImportError:
        raise EvrouteError(
            "FASTSim is missing; install it with: pip install 'evroute[fastsim]'"
        ) from None
