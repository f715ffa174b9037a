"""Errors of the expected energy and time of a trip by edges."""

from evroute.arms import Feedback
from evroute.learning.intervals import PastErrors
from evroute.planning.spaces.arm_space import ArmSpace, ExpectsTimes


def add_errors(
    errors: PastErrors, space: ArmSpace, feedback: Feedback, mean_wh: float, sd_wh: float
) -> None:
    """Add the errors of the expected energy and time of a trip, before the space learns its times.

    Parameters
    ----------
    errors
        Errors of past trips of the vehicle.
    space
        Arms, which may expect travel times.
    feedback
        The measured trip by edges.
    mean_wh, sd_wh
        Expected energy and its deviation, Wh. The deviation is NaN if unknown.
    """
    if isinstance(space, ExpectsTimes):
        errors.add_time(space.time_error(feedback))
    errors.add(float(feedback.energy_wh.sum()) - mean_wh, sd_wh)
