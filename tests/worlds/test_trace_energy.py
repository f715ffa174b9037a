"""Energies of traces against SUMO's own count and against first principles."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import load_vehicle
from evroute.worlds import sumo_drive, trace_energy
from evroute.worlds.sumo_drive import STEP_S, Trace

SUMO_GRAVITY_MPS2, SUMO_AIR_KGPM3 = 9.80665, 1.2041


def test_at_constant_speed_a_long_edge_takes_the_energy_of_eq_8(make_network) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (3000, 0, 60), (9000, 0, 0)])
    car = replace(load_vehicle("reference"), auxiliary_w=500.0)
    steps = np.round(network.length_m / 10 / STEP_S).astype(int)
    trace = Trace(np.array([0, 1]), np.full(steps.sum(), 10.0), np.repeat([0, 1], steps))
    eq8_wh = energy_parts(car, network.length_m, network.climb_m, np.full(2, 10.0)).total_wh
    started_wh = np.array([0.5 * car.mass_kg * 10**2 / 3600 / car.propulsion_efficiency, 0.0])
    measured_wh = trace_energy.energy_wh(trace, network, car, np.zeros(2), 1.2)
    assert measured_wh == pytest.approx(eq8_wh + started_wh, rel=1e-3)
    assert trace.travel_s(network.length_m) == pytest.approx(network.length_m / 10, abs=STEP_S)


def test_edges_without_a_step_share_energy_with_the_next() -> None:
    trace = Trace(np.arange(3), np.full(40, 10.0), np.repeat([0, 2], 20))
    assert trace.by_edge(np.ones(40), np.array([100.0, 5.0, 15.0])) == pytest.approx(
        [20.0, 5.0, 15.0]
    )


def test_a_car_climbs_our_profile_whatever_its_own_odometer_says(make_network) -> None:
    positions = [(0, 0, 0), (400, 0, 10), (404, 0, 12), (800, 0, 0)]
    network = make_network([("a", 0, 1), ("b", 1, 2), ("c", 2, 3)], positions)
    trace = Trace(
        np.arange(3), np.full(156, 10.0), np.repeat([0, 2], 78)
    )  # 20 m short, and no step on b
    incline = trace_energy.incline_sin(trace, network)
    assert (incline * 5).sum() == pytest.approx(0.0, abs=1e-9)
    assert incline[:70] == pytest.approx(10 / network.length_m[0] * np.full(70, 1.0), rel=0.05)
    assert np.cumsum(incline * 5).max() == pytest.approx(12.0, abs=0.2)


def test_energy_after_the_last_step_counts_for_the_last_edge(make_network) -> None:
    trace = Trace(np.arange(2), np.full(10, 10.0), np.zeros(10, dtype=int))
    assert trace.by_edge(np.ones(10), np.array([30.0, 10.0])) == pytest.approx([7.5, 2.5])


def test_a_head_wind_of_the_cars_own_speed_quadruples_drag(make_network) -> None:
    network = make_network([("a", 0, 1)], [(0, 0, 0), (1000, 0, 0)])
    car = replace(load_vehicle("reference"), propulsion_efficiency=1.0)
    trace = Trace(np.array([0]), np.full(200, 10.0), np.zeros(200, dtype=int))
    still, windy = (
        trace_energy.energy_wh(trace, network, car, np.array([w]), 1.2)[0] for w in (0.0, 10.0)
    )
    drag_wh = 0.5 * car.drag * car.front_m2 * 1.2 * 10**2 * 1000 / 3600
    assert windy - still == pytest.approx(3 * drag_wh)


@pytest.mark.data
def test_the_formula_is_sumos(monkeypatch, monaco, tmp_path) -> None:
    """Step by step, with SUMO's slopes, gravity and air, and without the cosine it omits."""
    libsumo = pytest.importorskip("libsumo")
    from evroute.network.catalog import source_path

    car = replace(load_vehicle("reference"), auxiliary_w=300.0)
    parameters = {
        "rotatingMass": 0,
        "frontSurfaceArea": car.front_m2,
        "airDragCoefficient": car.drag,
        "rollDragCoefficient": car.rolling,
        "radialDragCoefficient": 0,
        "constantPowerIntake": car.auxiliary_w,
        "propulsionEfficiency": car.propulsion_efficiency,
        "recuperationEfficiency": car.recuperation_efficiency,
    }
    inside = "".join(f'<param key="{key}" value="{value}"/>' for key, value in parameters.items())
    head = f'<vType id="ev" vClass="passenger" emissionClass="Energy/unknown" mass="{car.mass_kg}">'
    types = tmp_path / "car.add.xml"
    types.write_text(f"<additional>{head}{inside}</vType></additional>")
    command = [
        "sumo",
        "-n",
        str(source_path("monaco")),
        "-a",
        str(types),
        "--step-length",
        str(STEP_S),
    ]
    sumo_drive.close()
    libsumo.start([*command, "--no-step-log", "--no-warnings"])
    try:
        edges = libsumo.simulation.findRoute("-152627#0", "-152898#2").edges
        libsumo.route.add("r", edges)
        libsumo.vehicle.add("car", "r", typeID="ev")
        steps = []
        while libsumo.simulation.getMinExpectedNumber():
            libsumo.simulationStep()
            if libsumo.vehicle.getIDCount():
                of_car = libsumo.vehicle
                watts = of_car.getElectricityConsumption("car") * 3600
                steps.append((of_car.getSpeed("car"), of_car.getSlope("car"), watts))
    finally:
        libsumo.close()
    speed_mps, slope_deg, sumo_w = np.array(steps).T
    incline = np.sin(np.radians(slope_deg))
    monkeypatch.setattr(trace_energy, "GRAVITY_MPS2", SUMO_GRAVITY_MPS2)
    work_j = trace_energy.work_at_wheels_j(
        speed_mps, incline, car, air_mps=speed_mps, air_density_kgpm3=SUMO_AIR_KGPM3
    )
    weight_n = car.mass_kg * SUMO_GRAVITY_MPS2
    work_j += weight_n * car.rolling * (1 - np.sqrt(1 - incline**2)) * speed_mps * STEP_S
    ours_w = trace_energy.battery_j(work_j, car) / STEP_S
    assert ours_w[1:] == pytest.approx(sumo_w[1:], rel=1e-6, abs=1e-6)
    assert len(steps) > 100
