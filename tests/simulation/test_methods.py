"""Methods by name: what is refused, and what they are called."""

import pytest

from evroute.errors import EvrouteError, UnknownNameError
from evroute.simulation import methods
from evroute.simulation.methods import INDICES, MODELS, Method, options_of


@pytest.mark.parametrize(("field", "known"), [("model", MODELS), ("index", INDICES)])
def test_an_unknown_name_is_told_what_there_is(field, known) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown {field} 'oracle'; there are {', '.join(known)}"):
        Method(**({"model": "exact", "index": "ts"} | {field: "oracle"}))


def test_an_option_that_the_index_does_not_take_is_refused() -> None:
    with pytest.raises(EvrouteError, match="index 'greedy' takes no xi"):
        Method(model="exact", index="greedy", xi=1.0)


def test_every_option_is_taken_by_some_index() -> None:
    assert set().union(*(options_of(index) for index in INDICES)) == set(methods.OPTIONS)


class MarginalsOnly:
    """A model without a joint posterior."""

    def posterior(self, arms): ...

    def noise_std(self, arms): ...

    def update(self, feedback): ...

    def state(self): ...

    def restore(self, state): ...


def test_a_pair_that_cannot_work_is_told_which_can(monkeypatch) -> None:
    monkeypatch.setitem(MODELS, "marginals", "unused:MarginalsOnly")
    original = methods.named
    monkeypatch.setattr(
        methods,
        "named",
        lambda table, what, name: MarginalsOnly if name == "marginals" else original(table, what, name),
    )
    assert Method(model="marginals", index="ts").model == "marginals"
    with pytest.raises(
        EvrouteError, match=r"'ts-joint' cannot work on model 'marginals'.*use one of: independent, exact"
    ):
        Method(model="marginals", index="ts-joint")


@pytest.mark.parametrize(
    ("fields", "name", "label"),
    [
        ({"model": "exact", "index": "ts"}, "ts", "GP-TS"),
        ({"model": "independent", "index": "ucb"}, "ucb", "BI-UCB"),
        ({"model": "exact", "index": "ts", "variance_scale": 0.25}, "ts-v0.25", "GP-TS (variance scale 0.25)"),
        (
            {"model": "exact", "index": "bayes-ucb", "xi": 0.5, "omega": 1},
            "bayes-ucb-w1-x0.5",
            "GP-BayesUCB (omega 1, xi 0.5)",
        ),
        ({"model": "exact", "index": "greedy"}, "greedy", "GP-greedy"),
    ],
)
def test_methods_have_file_names_and_labels(fields, name, label) -> None:
    method = Method(**fields)
    assert (method.index_name, method.label) == (name, label)


@pytest.mark.parametrize(
    "options", [{"variance_scale": 0}, {"variance_scale": -1}, {"variance_scale": float("inf")}, {"variance": 1}]
)
def test_options_out_of_range_or_unknown_are_refused(options) -> None:
    with pytest.raises(ValueError, match="variance"):
        Method(model="exact", index="ts", **options)
