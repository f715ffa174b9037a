"""Plans take one thread for the products of their matrices, and give the others back."""

from threadpoolctl import threadpool_info, threadpool_limits

from evroute.energy.vehicle import Vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import LearnedEnergies
from evroute.planning.planner import Planner


def threads() -> list[int]:
    """Return the number of threads of each library of linear algebra."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_a_plan_takes_one_thread_and_leaves_the_number_as_it_was(denver: RoadNetwork) -> None:
    during: list[list[int]] = []

    def belief(network: RoadNetwork, vehicle: Vehicle, physics: str) -> LearnedEnergies:
        during.append(threads())  # asked for by the plan
        return physics_belief(network, vehicle, physics)

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        Planner(denver, uncertainty=belief).plan(0, 50, soc=50)
        assert threads() == before
    assert during == [[1] * len(before)]
    assert max(before) == 2
