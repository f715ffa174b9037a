"""Names for notebooks and studies: settings, worlds, plain bandits, readers of runs, charts.

``evroute`` has the names of a driver. A name here loads its module when it is first used.

>>> from evroute.lab import load_setting
>>> load_setting("denver", "reference").network.name
'denver'
"""

from importlib import import_module
from typing import Any

_BY_MODULE = {
    "arms": ("Feedback",),
    "bandits.kernel_bandit": ("load_bandit", "play"),
    "bandits.starvation": ("bands",),
    "energy.prior": ("edge_parts", "fit"),
    "experiments.experiment": ("load_experiment",),
    "learning.records.parts": ("read_parts",),
    "learning.trips.usual": ("usual_trip",),
    "methods.parts": ("model_options",),
    "methods.setting": ("Prior", "load_setting"),
    "model.bounds.sets": ("ConfidenceSet",),
    "model.bounds.spectrum": ("Spectrum",),
    "model.context_kernels": ("context_kernel",),
    "model.exact": ("ExactOptions",),
    "network.catalog": ("first_network", "read_any"),
    "network.heights.elevation": ("smooth",),
    "network.store": ("save",),
    "planning.battery": ("Battery",),
    "planning.places": ("load_trips",),
    "planning.planner": ("Planner",),
    "planning.weights": ("WEIGHT_RULES",),
    "policy.bounds": ("assume", "bounds"),
    "report.bandits": ("bandit_chart", "bandit_table", "starvation_chart", "starvation_table"),
    "report.calibration": ("calibration_table",),
    "report.charts": (
        "beta",
        "cumulative_regret",
        "diagnostic",
        "distribution",
        "regret_by_lengthscale",
        "saving",
    ),
    "report.charts.consumption": ("consumption_chart", "trip_points"),
    "report.exploration": ("visits_chart",),
    "report.maps.network_maps": ("values_map",),
    "report.own_trips": ("coefficient_history",),
    "report.results": ("read_diagnostics", "read_rounds", "read_visits"),
    "report.savings": ("savings_table",),
    "report.table": ("plan_table",),
    "report.trip_charts": (
        "coefficients_chart",
        "coefficients_finding",
        "energies_chart",
        "intervals_chart",
    ),
    "resources": ("data_path",),
    "worlds.demand.demand": ("load_demand",),
    "worlds.world": ("load_world",),
}
_LAZY = {name: module for module, names in _BY_MODULE.items() for name in names}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'evroute.lab' has no attribute '{name}'")
    return getattr(import_module(f"evroute.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return __all__
