"""The rest of a plan while it is driven: what is left, by what the drive took so far.

The belief stays as it was before the trip. The part that was driven moves the forecast of the rest
as far as both share causes (`forecasts.rest`): a headwind, a roof box, a tired battery. Where the
car has left the route, the rest is planned anew from there, and what it took so far still counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.network.heights.stretches import Stretches, part_shape
from evroute.network.road_network import RoadNetwork
from evroute.planning import documents
from evroute.planning.battery import Battery, ChargeTrace, follow
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.forecast import ChargeForecast, EnergyForecast, Legs
from evroute.planning.forecasts.learned import Day
from evroute.planning.forecasts.rest import DrivenPart, Left, rest
from evroute.planning.plan import Plan, PlannedRoute, energy_text, outlook_text
from evroute.planning.request import PlanRequest
from evroute.planning.spaces.arm_numbers import ArmNumbers
from evroute.planning.track import BESIDE_M, Track, progress

LEAST_STEPS = 4.0
"""Displayed steps of the charge below which the fall over a driven part is left out."""
BY_THE_MEAN = 0.5
"""Probability that a plan on the mean keeps."""


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """What is left of a planned trip.

    Parameters
    ----------
    route
        The route that is driven, from the departure on.
    off
        Words on where the route of the plan was left, or empty while the car is on it.
    driven_m, left_m
        Metres driven and left along it.
    used_wh, expected_wh, expected_std_wh
        Energy that the driven part took, Wh, or None if it was not read. What was expected of it at
        the departure, and its standard deviation.
    energy
        Forecast of the energy that is left.
    left_s, left_std_s
        Seconds of driving that are left, charging included, and their standard deviation.
    battery
        Charge now, and the reserve, or None if no charge is known.
    charge
        Forecast of the charge from here on, or None.
    stops
        Stops to charge that are left.
    needless
        Names of stops that the charge now makes needless.
    arrive_wh
        Expected charge on arrival, Wh. NaN without a charge.
    lowest_wh
        Lowest expected charge on the way, Wh. NaN without a charge.
    coarse
        Words on a display too coarse to tell much, or empty.
    """

    route: PlannedRoute
    off: str
    driven_m: float
    left_m: float
    used_wh: float | None
    expected_wh: float
    expected_std_wh: float
    energy: EnergyForecast
    left_s: float
    left_std_s: float
    battery: Battery | None
    charge: ChargeForecast | None
    stops: tuple[ChargingStop, ...]
    needless: tuple[str, ...]
    arrive_wh: float
    lowest_wh: float
    coarse: str

    @property
    def chance(self) -> float | None:
        """Probability to keep the reserve to the end, or None without a charge."""
        return None if self.charge is None else self.charge.never_below_reserve

    @property
    def outlook(self) -> str:
        """Sentence on the chance and the charge on arrival. Empty without a charge."""
        if self.charge is None or self.battery is None:
            return ""
        return outlook_text(self.charge, self.battery, self.arrive_wh, self.lowest_wh)

    @property
    def sentences(self) -> list[str]:
        """What there is to say, one sentence each."""
        low_wh, high_wh = self.energy.interval_wh()
        lines = [self.off] if self.off else []
        lines.append(f"{self.driven_m / 1000:.1f} km driven, {self.left_m / 1000:.1f} km left")
        if self.used_wh is not None:
            lines[-1] += (
                f": {energy_text(self.used_wh)} used where {energy_text(self.expected_wh)} were "
                "expected"
            )
        lines.append(
            f"The rest takes {energy_text(self.energy.mean_wh)} ({low_wh / 1000:.2f} to "
            f"{high_wh / 1000:.2f} kWh) and {self.left_s / 60:.0f} min"
        )
        if self.coarse:
            lines.append(self.coarse)
        if self.outlook:
            lines.append(self.outlook)
        lines += [f"The stop at {name} is no longer needed" for name in self.needless]
        return lines

    def document(self) -> documents.Ahead:
        """Return the numbers as JSON has them. No position is among them."""
        low_wh, high_wh = self.energy.interval_wh()
        charge: documents.ChargeAhead | None = None
        if self.charge is not None and self.battery is not None:
            charge = {
                "now_percent": self.battery.percent(self.battery.start_wh),
                "arrival_percent": self.battery.percent(self.arrive_wh),
                "arrival_interval_90_percent": self.charge.arrival_interval_percent,
                "lowest_percent": self.battery.percent(self.lowest_wh),
                "chance": self.charge.never_below_reserve,
            }
        return {
            "off_route": bool(self.off),
            "driven_m": self.driven_m,
            "left_m": self.left_m,
            "used_wh": self.used_wh,
            "expected_wh": self.expected_wh,
            "left_wh": self.energy.mean_wh,
            "left_interval_90_wh": (low_wh, high_wh),
            "left_s": self.left_s,
            "left_std_s": self.left_std_s,
            "charge": charge,
            "stops": [stop.station for stop in self.stops],
            "needless_stops": list(self.needless),
            "sentences": self.sentences,
        }


class OnDay(Protocol):
    """What the rest of a plan needs of the planner of its day (`planner.Planner`)."""

    @property
    def network(self) -> RoadNetwork:
        """The roads."""

    @property
    def numbers(self) -> ArmNumbers:
        """Numbers of the arms."""

    @property
    def uncertain(self) -> Day | None:
        """Energies of the day with their deviations, or None without any."""

    @property
    def vehicle(self) -> Vehicle:
        """The car."""

    def plan(self, origin: PlanRequest) -> Plan:
        """Plan a request."""


def ahead_of(plan: Plan, track: Track, planner: OnDay) -> Ahead:
    """Return what is left of a plan.

    Parameters
    ----------
    plan
        The plan. Its recommended route is the one that is driven.
    track
        The drive so far.
    planner
        Planner of the plan's day.

    Raises
    ------
    EvrouteError
        If the plan has no forecast, the car never was on the route, or has arrived, or no legal way
        leads on from where it is.
    """
    planned = plan.recommended_route
    if planned.energy_forecast is None:
        raise EvrouteError("the plan has no forecast, which the rest of a trip needs")
    made = progress(track, *_line(plan.roads, planned.stretches))
    if not made.on.any():
        raise EvrouteError(
            f"no position of the drive lies within {BESIDE_M:.0f} m of the planned route. Plan "
            "from where the car is"
        )
    arms = planner.numbers.driven(planned.route)
    used_wh = _used_wh(planned, plan.battery)
    way = _Way(planned, planned.energy_forecast, arms.length_m, used_wh, arms.time_s)
    off, last = made.off_since, int(np.flatnonzero(made.on)[-1])
    driven, along_m = track.until(last), made.along_m[: last + 1]
    now = _Now.of(driven, along_m, way, plan, planner.vehicle)
    if off is None:
        if now.part.at >= len(way.arm_wh) - 1e-9:
            raise EvrouteError("the car has arrived: nothing of the plan is left")
        return _left_of(plan, way, now, float(along_m[-1]))
    levels = _levels(track, planner.vehicle.battery_kwh * 1000.0)
    if levels.rows:  # also read beside the route
        now = replace(now, charge_wh=levels.wh[-1], charge_wh2=levels.step_wh**2 / 12)
    anew = planner.plan(_from_here(plan, track, now))
    joined, now = _joined(way, now, anew, planner)
    since = "" if np.isnan(track.time_s[off]) else f" for {_minutes(track, off)}"
    found = _left_of(anew, joined, now, float(track.moved_m.sum()))
    return replace(found, off=f"Off the planned route{since}: planned anew from here")


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A route of k arms with its forecast, and (k,) lengths, m, energies, Wh, and times, s."""

    planned: PlannedRoute
    forecast: EnergyForecast
    length_m: FloatArray
    arm_wh: FloatArray
    time_s: FloatArray

    def arms(self, along_m: float) -> float:
        """Return the number of arms driven up to some metres."""
        end_m = np.append(0.0, np.cumsum(self.length_m))
        return float(np.interp(along_m, end_m, np.arange(len(end_m))))

    def left_m(self, at: float) -> float:
        """Return the metres from a number of driven arms on."""
        end_m = np.append(0.0, np.cumsum(self.length_m))
        return float(end_m[-1] - np.interp(at, np.arange(len(end_m)), end_m))

    def energy_wh(self, begin: float, end: float) -> float:
        """Return the expected energy between two numbers of driven arms, Wh."""
        up_to_wh = np.append(0.0, np.cumsum(self.arm_wh))
        places = np.arange(len(up_to_wh))
        return float(np.interp(end, places, up_to_wh) - np.interp(begin, places, up_to_wh))

    def returned_wh(self, begin: float, end: float) -> float:
        """Return the energy that descents return between two numbers of driven arms, Wh."""
        some = self.arm_wh[int(begin) : int(np.ceil(end))]
        return float(-np.minimum(some, 0.0).sum())


@dataclass(frozen=True, slots=True)
class _Now:
    """Where the car is, and what was read on the way.

    part: the driven part with the energy that was read.  charge_wh: charge now, Wh, or None.
    charge_wh2: its variance, s²/12 of a display of step s, or 0 where none was shown.
    began, elapsed_s: seconds of driving since so many arms, or NaN.  step_wh: of the display, Wh.
    """

    part: DrivenPart
    charge_wh: float | None
    charge_wh2: float
    began: float
    elapsed_s: float
    step_wh: float

    @classmethod
    def of(
        cls, track: Track, along_m: FloatArray, way: _Way, plan: Plan, vehicle: Vehicle
    ) -> "_Now":
        """Return it for a drive whose fixes lie at (n,) metres along a way of a plan."""
        arms = [way.arms(float(each)) for each in along_m]
        at, capacity_wh = arms[-1], vehicle.battery_kwh * 1000.0
        levels = _levels(track, capacity_wh)
        known = None if plan.battery is None else _last_charge(way.planned, plan.battery, at)
        part = _metered(track, arms) or _charged(track, arms, way, levels, known)
        charge_wh, charge_wh2 = None, 0.0
        if levels.rows:
            charge_wh = levels.wh[-1] - way.energy_wh(arms[levels.rows[-1]], at)
            charge_wh2 = levels.step_wh**2 / 12
        elif part.read is not None and known is not None and known[0] == 0.0:
            unread_wh = way.energy_wh(0.0, part.begin) + way.energy_wh(part.end, at)
            charge_wh = known[1] - part.read - unread_wh
        began, elapsed_s = 0.0 if track.single else arms[0], track.driving_s(0, len(arms) - 1)
        return cls(part, charge_wh, charge_wh2, began, elapsed_s, levels.step_wh)


@dataclass(frozen=True, slots=True)
class _Levels:
    """Charges that a display with steps of ``step_wh`` showed at some rows of a drive, Wh."""

    rows: list[int]
    wh: list[float]
    step_wh: float


def _levels(track: Track, capacity_wh: float) -> _Levels:
    """Return the charges that were shown."""
    rows = np.flatnonzero(np.isfinite(track.percent))
    levels_wh = track.percent[rows] / 100 * capacity_wh
    return _Levels(rows.tolist(), levels_wh.tolist(), track.step_percent / 100 * capacity_wh)


def _metered(track: Track, arms: Sequence[float]) -> DrivenPart | None:
    """Return the driven part with the energy of a meter, or None without a meter."""
    rows = np.flatnonzero(np.isfinite(track.used_wh)).tolist()
    if track.single and rows:
        return DrivenPart(arms[-1], 0.0, arms[-1], float(track.used_wh[-1]))
    if len(rows) < 2:
        return None
    read_wh = float(track.used_wh[rows[-1]] - track.used_wh[rows[0]])
    return DrivenPart(arms[-1], arms[rows[0]], arms[rows[-1]], read_wh)


def _charged(
    track: Track,
    arms: Sequence[float],
    way: _Way,
    levels: _Levels,
    known: tuple[float, float] | None,
) -> DrivenPart:
    """Return the driven part with the energy that charges tell, if any.

    known: where the plan knows the charge, in arms, and that charge, Wh.
    """
    places, levels_wh = [arms[row] for row in levels.rows], levels.wh
    if track.single and known is not None:
        places, levels_wh = [known[0], *places], [known[1], *levels_wh]
    if not levels.rows or len(places) < 2:
        first = 0.0 if track.single else arms[0]
        return DrivenPart(arms[-1], first, arms[-1])
    read_wh, legs = _fallen_wh(levels_wh, places, way, levels.step_wh)
    variance_wh2 = legs * levels.step_wh**2 / 6
    return DrivenPart(arms[-1], places[0], places[-1], read_wh, variance_wh2)


def _last_charge(planned: PlannedRoute, battery: Battery, at: float) -> tuple[float, float]:
    """Return where the charge was last known by the plan, in arms, and the charge there, Wh."""
    passed = [stop for stop in planned.stops if stop.after_edges <= at]
    if not passed:
        return 0.0, battery.start_wh
    return float(passed[-1].after_edges), battery.capacity_wh * passed[-1].to_percent / 100


def _fallen_wh(
    levels_wh: Sequence[float], places: Sequence[float], way: _Way, step_wh: float
) -> tuple[float, int]:
    """Return the energy by falling charges, Wh, and between how many stops to charge they fell.

    A rise beyond what descents return, and two steps of the display, is a stop.
    """
    fallen_wh, legs, since_wh = 0.0, 1, levels_wh[0]
    for number in range(1, len(levels_wh)):
        rise_wh = levels_wh[number] - levels_wh[number - 1]
        returned_wh = way.returned_wh(places[number - 1], places[number])
        if rise_wh > returned_wh + 2.0 * step_wh:
            fallen_wh += since_wh - levels_wh[number - 1]
            legs, since_wh = legs + 1, levels_wh[number]
    return fallen_wh + since_wh - levels_wh[-1], legs


def _used_wh(planned: PlannedRoute, battery: Battery | None) -> FloatArray:
    """Return the expected energy of each arm with what a full battery does not take, (k,) Wh."""
    if planned.charge is None or battery is None:
        return planned.edge_wh
    begun_wh = planned.charge.charge_wh[:-1].copy()
    for stop in planned.stops:
        begun_wh[stop.after_edges] = battery.capacity_wh * stop.to_percent / 100
    return begun_wh - planned.charge.charge_wh[1:]


def _line(roads: RoadNetwork, driven: Stretches) -> tuple[FloatArray, FloatArray]:
    """Return longitudes and latitudes of the points of a route, (j, 2), and their metres, (j,)."""
    points, metres, begin_m = list[FloatArray](), list[FloatArray](), 0.0
    for edge, from_m, to_m in zip(driven.edge, driven.from_m, driven.to_m, strict=True):
        share, lon, lat = part_shape(roads, int(edge), float(from_m), float(to_m))
        points.append(np.column_stack([lon, lat]))
        metres.append(begin_m + (share - share[0]) * float(roads.length_m[edge]))
        begin_m += float(to_m - from_m)
    return np.concatenate(points), np.concatenate(metres)


def _left_of(plan: Plan, way: _Way, now: _Now, driven_m: float) -> Ahead:
    """Return what is left of a plan along a way from where the car is."""
    part = now.part
    forecast, left = way.forecast.rest(part, way.arm_wh)
    if coarse := _coarse(now, left):
        part = replace(part, read=None)
        forecast, left = way.forecast.rest(part, way.arm_wh)
    behind = len(way.arm_wh) - len(way.planned.edge_wh)  # arms that another route had
    stops = tuple(stop for stop in way.planned.stops if stop.after_edges + behind > part.at)
    left_s, left_std_s = _time_left(way, now)
    battery = charge = None
    arrive_wh = lowest_wh = float("nan")
    needless: tuple[ChargingStop, ...] = ()
    if now.charge_wh is not None and plan.battery is not None:
        whole = plan.battery
        start_wh = min(now.charge_wh, whole.capacity_wh)
        battery = replace(whole, start_wh=start_wh, reserve_wh=min(whole.reserve_wh, start_wh))
        doubted, _ = way.forecast.rest(replace(part, start=now.charge_wh2), way.arm_wh)
        ahead = _Charges(doubted, left, way.planned, battery, int(part.at) - behind, plan.request)
        charge, trace = ahead.after(stops)
        promised = 1.0 - (plan.request.most_risk or BY_THE_MEAN)
        for kept in range(len(stops)):
            other, along = ahead.after(stops[:kept])
            if other.never_below_reserve >= promised:
                needless, charge, trace = stops[kept:], other, along
                break
        if start_wh < whole.reserve_wh:
            charge = replace(charge, never_below_reserve=0.0)
        arrive_wh, lowest_wh = float(trace.charge_wh[-1]), float(trace.low_wh.min())
    stops = stops[: len(stops) - len(needless)]
    return Ahead(
        route=way.planned,
        off="",
        driven_m=driven_m,
        left_m=way.left_m(part.at),
        used_wh=now.part.read,
        expected_wh=left.driven_mean,
        expected_std_wh=left.driven_std,
        energy=forecast,
        left_s=left_s + sum(stop.time_s for stop in stops),
        left_std_s=left_std_s,
        battery=battery,
        charge=charge,
        stops=stops,
        needless=tuple(stop.station for stop in needless),
        arrive_wh=arrive_wh,
        lowest_wh=lowest_wh,
        coarse=coarse,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Charges:
    """Charges over the n arms that are left of a route, from the one on which the car is on.

    forecast, left: of the rest.  planned: the route, of which ``driven`` arms are behind.  battery:
    charge now.  request: the charge to arrive with.
    """

    forecast: EnergyForecast
    left: Left
    planned: PlannedRoute
    battery: Battery
    driven: int
    request: PlanRequest

    def after(self, stops: Sequence[ChargingStop]) -> tuple[ChargeForecast, ChargeTrace]:
        """Return the forecast of the charge, and the expected one, with some stops to charge."""
        arm_wh, battery = np.diff(self.left.mean, prepend=0.0), self.battery
        pairs = [(stop.after_edges - self.driven, stop.to_percent) for stop in stops]
        begins, starts_wh = [0, *(at for at, _ in pairs)], [battery.start_wh]
        starts_wh += [battery.capacity_wh * to / 100 for _, to in pairs]
        legs = [
            follow(replace(battery, start_wh=max(start_wh, battery.reserve_wh)), arm_wh[begin:end])
            for begin, end, start_wh in zip(
                begins, [*begins[1:], len(arm_wh)], starts_wh, strict=True
            )
        ]
        charge_wh = np.append(battery.start_wh, np.concatenate([leg.charge_wh[1:] for leg in legs]))
        low_wh = charge_wh.copy()
        if self.planned.charge is not None:
            dip_wh = self.planned.charge.low_wh[1:] - self.planned.charge.charge_wh[1:]
            low_wh[1:] += dip_wh[-len(arm_wh) :]
        lost_wh = sum(leg.lost_wh for leg in legs)
        trace = ChargeTrace(charge_wh, low_wh, arm_wh, lost_wh)
        wished = self.request.arrive
        least_wh = battery.capacity_wh * wished / 100 if isinstance(wished, float) else 0.0
        among = Legs.of(battery, len(arm_wh), pairs, least_wh)
        return self.forecast.charge(battery, trace, among), trace


def _time_left(way: _Way, now: _Now) -> tuple[float, float]:
    """Return the seconds of driving that are left, and their standard deviation."""
    of_trip_s, of_root_s, of_km_s = way.forecast.time_noise_s
    km = np.cumsum(way.length_m) / 1000.0
    reached = of_root_s**2 * np.minimum.outer(km, km) + of_km_s**2 * np.outer(km, km) + of_trip_s**2
    read = None if np.isnan(now.elapsed_s) else now.elapsed_s
    part = DrivenPart(now.part.at, now.began, now.part.at, read)
    left = rest(np.cumsum(way.time_s), reached, of_trip_s**2, part)
    return max(float(left.mean[-1]), 0.0), float(np.sqrt(left.covariance[-1, -1]))


def _coarse(now: _Now, left: Left) -> str:
    """Return words on a display whose steps are coarse for what was driven, or empty."""
    read_wh, least_wh = now.part.read, LEAST_STEPS * now.step_wh
    if read_wh is None or not now.part.variance or max(left.driven_mean, read_wh) >= least_wh:
        return ""
    return (
        f"The charge is shown in steps of {energy_text(now.step_wh)}, and the part driven takes "
        f"{energy_text(left.driven_mean)}: so far it tells little, and the rest is expected as at "
        "the departure"
    )


def _from_here(plan: Plan, track: Track, now: _Now) -> PlanRequest:
    """Return the request from where the car is."""
    request = plan.request
    warm = replace(request.conditions, parked_minutes=0.0)
    edges, at, passed = plan.recommended_route.edges, 1, 0
    for via in plan.via:  # each lies on an edge that the route drives to its end
        at = edges.index(via, at) + 1
        passed += at <= now.part.at
    changes: dict[str, Any] = {
        "origin": f"{track.lat[-1]:.6f},{track.lon[-1]:.6f}",
        "destination": request.destination or plan.destination,
        "trip": None,
        "via": request.via[passed:],
        "conditions": warm,
    }
    if request.soc is not None and plan.battery is not None and now.charge_wh is not None:
        percent = plan.battery.percent(now.charge_wh)
        changes["soc"] = min(max(percent, request.reserve or 0.0), 100.0)
    return request.model_copy(update=changes)


def _joined(way: _Way, now: _Now, anew: Plan, planner: OnDay) -> tuple[_Way, _Now]:
    """Return the part of a way that was driven with a new route behind it, as one trip."""
    planned, whole = anew.recommended_route, int(np.ceil(now.part.at))
    before = planner.numbers.driven(way.planned.route)
    behind = planner.numbers.driven(planned.route)
    stretches = Stretches.joined([before.stretches[:whole], behind.stretches])
    arms = np.concatenate([before.arms[:whole], behind.arms])
    energy_wh = np.concatenate([before.energy_wh[:whole], behind.energy_wh])
    day = planner.uncertain
    assert day is not None  # the plan has a forecast
    joined = _Way(
        planned,
        day.forecast(arms, energy_wh, None, stretches),
        np.concatenate([before.length_m[:whole], behind.length_m]),
        np.concatenate([way.arm_wh[:whole], _used_wh(planned, anew.battery)]),
        np.concatenate([before.time_s[:whole], behind.time_s]),
    )
    return joined, replace(now, part=replace(now.part, at=float(whole)))


def _minutes(track: Track, off: int) -> str:
    return f"{(track.time_s[-1] - track.time_s[off]) / 60:.0f} min"
