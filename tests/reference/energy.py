"""Energy of edges by Sandberg et al., eq. 8, with the vehicle of Table 2."""

from mpmath import mpf, sqrt

CAR = {
    "mass_kg": 1830,
    "rolling": 0.01,
    "drag": 0.35,
    "front_m2": 2.6,
    "propulsion_efficiency": 0.98,
    "recuperation_efficiency": 0.96,
    "auxiliary_w": 0,
}
EDGES = [  # length m, climb m, speed m/s
    (1000, 0, 10),
    (50, 3, 13.9),
    (50, -3, 13.9),
    (500, -4, 8.3),
    (500, -40, 8.3),
    (12.5, 0.8, 5.6),
    (4200, -31, 36.1),
    (4200, 31, 36.1),
    (80, -0.55, 2),
    (310, 62, 25),
    (310, -62, 25),
]


def cases():
    """Return one case per car and edge."""
    cars = [CAR, CAR | {"mass_kg": 2400, "rolling": 0.008, "drag": 0.23, "auxiliary_w": 750}]
    return [case(car, *edge) for car in cars for edge in EDGES]


def case(car, length_m, climb_m, speed_mps):
    """Return the energy of an edge at constant speed and its potential, Wh."""
    m, c_r, c_d, area = (mpf(car[name]) for name in ("mass_kg", "rolling", "drag", "front_m2"))
    length, climb, v = mpf(length_m), mpf(climb_m), mpf(speed_mps)
    g, rho = mpf("9.82"), mpf("1.2")  # Table 2
    sine = climb / length  # section 1 of eq. 8: sin(alpha) = climb / length
    work = m * g * sine * length  # eq. 8, first term: m g l sin(alpha)
    work += m * g * c_r * sqrt(1 - sine**2) * length  # eq. 8, second term: m g C_r l cos(alpha)
    work += c_d * area * rho * length * v**2 / 2  # eq. 8, third term: C_d A rho l v² / 2
    out, back = (mpf(car[f"{name}_efficiency"]) for name in ("propulsion", "recuperation"))
    battery = work / out if work > 0 else work * back  # eq. 8 with Table 2: eta+ and eta-
    battery += mpf(car["auxiliary_w"]) * length / v  # ours: auxiliary power times travel time
    return {
        "car": car,
        "length_m": length_m,
        "climb_m": climb_m,
        "speed_mps": speed_mps,
        "energy_wh": battery / 3600,
        "potential_wh": m * g * climb / 3600,
    }
