"""Cabin: heating and cooling of a car by two heat balances, integrated in steps of 10 s.

The cabin and the battery are one node each. A thermostat holds the cabin, a second heater brings a
cold battery to 5 °C. The model shares no formula and no number with the planner's physics or the
learned belief, which are judged on it (`evroute.worlds.year`).

Heat capacity and conductance, with the fresh air, are of the size that cool-down tests of compact
cars give. With the default numbers a drive from a cold start at -10 °C takes 5.3 kW at first and
2.5 kW once the cabin is warm. The powers published for electric compacts in winter are 1 to 6 kW.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray

STEP_S = 10.0
J_PER_WH = 3600.0
HEATED_C = 20.0
COOLED_C = 24.0
BATTERY_HEATED_C = 5.0
OCCUPANTS_W = 100.0
BATTERY_LOSSES_W = 300.0


@dataclass(frozen=True, slots=True)
class Cabin:
    """Numbers of a car's cabin and battery.

    Parameters
    ----------
    conductance_w_per_k
        Heat that leaves the cabin, fresh air included, W/K.
    capacity_j_per_k
        Heat capacity of the air, the seats and the panels together, J/K.
    gain_w_per_k
        Further heat of the thermostat for each kelvin that the cabin misses, W/K.
    heat_limit_w
        Greatest heat into the cabin, W.
    heat_pump
        A heat pump instead of a resistance heater.
    cooling_limit_w
        Greatest heat out of the cabin by the air conditioner, W.
    cooling_performance
        Heat moved by the air conditioner per electric energy.
    cabin_decay_s, battery_decay_s
        Time constants at which a parked cabin and battery come to the outside temperature, s.
    battery_capacity_j_per_k, battery_conductance_w_per_k
        Heat capacity of the battery, J/K, and the heat that it loses, W/K.
    battery_heater_w_per_k, battery_heater_limit_w
        Power of the battery's heater for each kelvin below 5 °C, W/K, and its limit, W.
    """

    conductance_w_per_k: float = 75.0
    capacity_j_per_k: float = 90_000.0
    gain_w_per_k: float = 500.0
    heat_limit_w: float = 4_500.0
    heat_pump: bool = False
    cooling_limit_w: float = 4_000.0
    cooling_performance: float = 2.2
    cabin_decay_s: float = 1_500.0
    battery_decay_s: float = 21_600.0
    battery_capacity_j_per_k: float = 250_000.0
    battery_conductance_w_per_k: float = 5.0
    battery_heater_w_per_k: float = 80.0
    battery_heater_limit_w: float = 800.0

    def performance(self, outside_c: float) -> float:
        """Return the heat into the cabin per electric energy at an outside temperature.

        1 for a resistance heater. A heat pump falls from 2.8 at 10 °C to 1.2 at -15 °C.
        """
        if not self.heat_pump:
            return 1.0
        return float(np.interp(outside_c, [-15.0, 10.0], [1.2, 2.8]))

    def demand_w(self, cabin_c: float, outside_c: float) -> tuple[float, float]:
        """Return the heat into the cabin by the thermostat and its electric power, W.

        The heat is negative where the cabin is cooled.
        """
        if outside_c < HEATED_C:
            holding_w = self.conductance_w_per_k * (HEATED_C - outside_c) - OCCUPANTS_W
            wanted_w = holding_w + self.gain_w_per_k * (HEATED_C - cabin_c)
            heat_w = min(max(wanted_w, 0.0), self.heat_limit_w)
            return heat_w, heat_w / self.performance(outside_c)
        if outside_c > COOLED_C:
            holding_w = self.conductance_w_per_k * (outside_c - COOLED_C) + OCCUPANTS_W
            wanted_w = holding_w + self.gain_w_per_k * (cabin_c - COOLED_C)
            taken_w = min(max(wanted_w, 0.0), self.cooling_limit_w)
            return -taken_w, taken_w / self.cooling_performance
        return 0.0, 0.0

    def energy_wh(self, outside_c: float, parked_s: float, duration_s: float) -> FloatArray:
        """Return the electric energy since departure at the end of each step, (k + 1,) Wh.

        Parameters
        ----------
        outside_c
            Outside temperature, °C.
        parked_s
            Time since the end of a trip that had warmed cabin and battery, s.
        duration_s
            Duration of the trip, s. k steps of 10 s reach it.

        Returns
        -------
        FloatArray
            Energy, 0 at departure. Its slope never grows: power is greatest at departure.
        """
        comfortable_c = min(max(outside_c, HEATED_C), COOLED_C)
        cabin_c = outside_c + (comfortable_c - outside_c) * np.exp(-parked_s / self.cabin_decay_s)
        battery_c = outside_c + max(15.0 - outside_c, 0.0) * np.exp(
            -parked_s / self.battery_decay_s
        )
        steps = int(np.ceil(duration_s / STEP_S))
        power_w = np.empty(steps)
        for step in range(steps):
            heat_w, electric_w = self.demand_w(cabin_c, outside_c)
            heater_w = min(
                self.battery_heater_w_per_k * max(BATTERY_HEATED_C - battery_c, 0.0),
                self.battery_heater_limit_w,
            )
            power_w[step] = electric_w + heater_w
            lost_w = self.conductance_w_per_k * (cabin_c - outside_c)
            cabin_c += STEP_S * (heat_w + OCCUPANTS_W - lost_w) / self.capacity_j_per_k
            battery_lost_w = self.battery_conductance_w_per_k * (battery_c - outside_c)
            battery_c += (
                STEP_S
                * (heater_w + BATTERY_LOSSES_W - battery_lost_w)
                / self.battery_capacity_j_per_k
            )
        return np.append(0.0, np.cumsum(power_w) * STEP_S / J_PER_WH)


def drawn_cabin(rng: np.random.Generator, *, heat_pump: bool) -> Cabin:
    """Return the cabin of a random car.

    Conductance, capacity and limit are log-normal around the defaults, with deviations of 20, 20
    and 15 % of their logarithms.
    """
    default = Cabin()
    conductance, capacity, limit = np.exp(rng.standard_normal(3) * [0.2, 0.2, 0.15])
    return Cabin(
        conductance_w_per_k=float(default.conductance_w_per_k * conductance),
        capacity_j_per_k=float(default.capacity_j_per_k * capacity),
        heat_limit_w=float(default.heat_limit_w * limit),
        heat_pump=heat_pump,
    )
