"""A planner for tests of routes, batteries and charging by expected energies."""

from typing import Any

from evroute.planning import planner as planning
from evroute.planning.battery import Battery
from evroute.planning.fields import MEAN
from evroute.planning.plan import Plan
from evroute.planning.request import PlanRequest


class PlannerOnAverage(planning.Planner):
    """Plans by expected energies where a call names no limit of risk."""

    def plan(
        self,
        origin: PlanRequest | int | str,
        destination: int | str | None = None,
        *,
        battery: Battery | None = None,
        **wishes: Any,
    ) -> Plan:
        """Plan one request, as `planning.planner.Planner.plan` does.

        Parameters
        ----------
        origin, destination, battery, **wishes
            As there.
        """
        if not isinstance(origin, PlanRequest):
            wishes = {"risk": MEAN, **wishes}
        return super().plan(origin, destination, battery=battery, **wishes)
