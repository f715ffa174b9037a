import pytest

from evroute.errors import EvrouteError, NoRouteError, require


def test_a_condition_that_holds_raises_nothing() -> None:
    require(["something"], "the list is empty")


def test_a_condition_that_fails_raises_its_error_with_the_message() -> None:
    with pytest.raises(EvrouteError, match=r"^soc is 120 %, at most 100 is possible$"):
        require(False, "soc is 120 %, at most 100 is possible")
    with pytest.raises(NoRouteError, match="no way"):
        require(0, "no way", NoRouteError)
