"""Methods by name: what is refused, and what they are called."""

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from evroute.errors import EvrouteError, UnknownNameError
from evroute.methods.method import NEAR, Method, corridor_of, is_sparse
from evroute.methods.parts import INDICES, METHODS, MODELS
from evroute.methods.setting import Prior
from evroute.model.base import ModelOptions


@pytest.mark.parametrize(("field", "known"), [("model", MODELS), ("index", INDICES)])
def test_an_unknown_name_is_refused_with_the_known_names(field, known) -> None:
    with pytest.raises(
        UnknownNameError, match=re.escape(f"unknown {field} 'oracle'. There are {', '.join(known)}")
    ):
        Method(**({"model": "exact", "index": "ts"} | {field: "oracle"}))


@pytest.mark.parametrize(
    ("model", "index", "option"),
    [
        ("exact", "greedy", {"xi": 1.0}),
        ("exact", "ts", {"slots": "literal"}),
        ("exact", "ts", {"fit_hyperparameters": True}),
        ("independent", "ts", {"lengthscale_factor": 2.0}),
        ("exact", "ts", {"device": "cuda"}),
        ("exact", "ts", {"prior_factor": None}),
        ("exact", "ts", {"rng": 1}),
    ],
)
def test_an_option_that_neither_part_takes_is_refused(model, index, option) -> None:
    with pytest.raises(EvrouteError, match=f"takes no|takes {next(iter(option))}"):
        Method(model=model, index=index, **option)


def test_a_refused_option_is_named_beside_the_accepted_ones() -> None:
    with pytest.raises(
        EvrouteError,
        match=r"'exact' nor index 'bayes-ucb' takes slots. Their options are beta_scale, omega, xi",
    ):
        Method(model="exact", index="bayes-ucb", slots="literal")


def test_arms_on_turns_are_named_and_those_on_edges_are_not() -> None:
    turns, edges = (
        Method(model="exact", index="ts", arms=arms, variance_scale=1)
        for arms in ("turns", "edges")
    )
    assert (turns.name, turns.label) == ("exact-turns-ts-v1", "GP-TS turns (variance scale 1)")
    assert edges == Method(model="exact", index="ts", variance_scale=1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (
            {"model": "regional", "arms": "turns"},
            "'regional' has no arms on turns: its graph kernel",
        ),
    ],
)
def test_options_that_cannot_work_on_turns_are_refused(wrong, why) -> None:
    with pytest.raises(EvrouteError, match=why):
        Method(index="ts", **wrong)


@pytest.mark.parametrize("name", METHODS)
def test_a_named_method_is_its_pair(name) -> None:
    assert Method.model_validate(name) == Method(**METHODS[name])


def test_a_named_method_takes_options_and_no_other_part() -> None:
    assert Method.model_validate({"method": "gp-ts", "variance_scale": 1}).name == "exact-ts-v1"
    with pytest.raises(EvrouteError, match="method 'gp-ts' names its index"):
        Method.model_validate({"method": "gp-ts", "index": "ucb"})
    with pytest.raises(
        UnknownNameError, match=r"unknown method 'magic'. There are recommended, gp-ucb"
    ):
        Method.model_validate("magic")


class MarginalsOptions(ModelOptions):
    """A model without a joint posterior."""

    label = "marginals"

    def build(self, setting, rng) -> "MarginalsOnly": ...


class MarginalsOnly:
    def posterior(self, arms): ...

    def noise_std(self, arms): ...

    def update(self, feedback): ...

    def state(self): ...

    def restore(self, state): ...


def test_a_pair_that_cannot_work_is_refused_with_the_pairs_that_can(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "marginals", SimpleNamespace(Options=MarginalsOptions))
    monkeypatch.setitem(MODELS, "marginals", "marginals:Options")
    assert Method(model="marginals", index="ts").model == "marginals"
    with pytest.raises(
        EvrouteError,
        match=r"'ts-joint' cannot work on model 'marginals'.*Use one of: independent, exact",
    ):
        Method(model="marginals", index="ts-joint")


@pytest.mark.parametrize(
    ("fields", "name", "label"),
    [
        ({"model": "exact", "index": "ts"}, "exact-ts", "GP-TS"),
        ({"model": "independent", "index": "ucb"}, "independent-ucb", "BI-UCB"),
        (
            {"model": "exact", "index": "ts", "variance_scale": 0.25},
            "exact-ts-v0.25",
            "GP-TS (variance scale 0.25)",
        ),
        (
            {"model": "exact", "index": "bayes-ucb", "xi": 0.5, "omega": 1},
            "exact-bayes-ucb-w1-x0.5",
            "GP-BayesUCB (omega 1, xi 0.5)",
        ),
        ({"model": "exact", "index": "greedy"}, "exact-greedy", "GP-greedy"),
        (
            {
                "model": "svgp",
                "index": "ts",
                "inducing_points": 200,
                "choice": "most-used",
            },
            "svgp-m200-most-used-ts",
            "SVGP-TS (inducing points 200, choice most-used)",
        ),
        (
            {"model": "exact", "index": "ts", "lengthscale_factor": 0.3},
            "exact-l0.3-ts",
            "GP-TS (lengthscale factor 0.3)",
        ),
    ],
)
def test_methods_have_file_names_and_labels(fields, name, label) -> None:
    method = Method(**fields)
    assert (method.name, method.label) == (name, label)


@pytest.mark.parametrize(
    "options",
    [
        {"choice": "sorted"},
        {"slots": "literal"},
        {"lengthscale_factor": 0},
        {"variance_scale": "big"},
        {"variance_scale": float("inf")},
        {"variance": 1},
    ],
)
def test_options_of_the_wrong_type_or_unknown_are_refused(options) -> None:
    with pytest.raises((ValueError, EvrouteError), match=next(iter(options))):
        Method(model="svgp", index="ts", **options)


def test_without_torch_the_other_models_work_and_this_one_names_its_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from evroute.methods.method import Method\n"
        "Method(model='exact', index='ts'), Method(model='independent', index='ts')\n"
        "Method(model='svgp', index='ts')\n"
        "Method(model='svgp-gpytorch', index='ts')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        "MissingPackageError: torch is not installed. Run: pip install 'evroute[gp]'" in done.stderr
    )


def test_a_corridor_is_not_below_one() -> None:
    assert Method.model_validate("region").name == "regional-ts-joint-corridor1.2"
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Method(model="regional", index="ts-joint", corridor=0.9)


@pytest.mark.parametrize(
    ("table", "temperature", "sparse"),
    [
        ("recommended", True, True),
        ({"model": "exact", "index": "bayes-ucb", "arms": "turns"}, True, True),
        ("recommended", False, False),
        ({"method": "recommended", "exact_contexts": True}, True, False),
        ({"method": "dmm-ucb", "arms": "turns"}, True, False),
        ({"model": "ek-ucb", "index": "ts", "arms": "turns"}, True, False),
        ("gp-ts", True, True),
        ({"method": "gp-ts", "exact_contexts": True}, True, False),
    ],
)
def test_an_exact_model_becomes_sparse_where_every_trip_has_a_temperature(
    table: Any, temperature: bool, sparse: bool
) -> None:
    method, assumed = Method.model_validate(table), Prior(temperature=temperature)
    assert is_sparse(method, assumed) == sparse
    assert corridor_of(method, assumed) == (NEAR if sparse and method.arms else None)


def test_a_corridor_that_is_given_stays() -> None:
    wide = Method(model="exact", index="ts", arms="turns", corridor=3)
    assert corridor_of(wide, Prior(temperature=True)) == 3
    assert corridor_of(wide, Prior()) == 3


def test_a_change_test_is_for_models_with_a_kernel() -> None:
    with pytest.raises(EvrouteError, match="takes no change_test: its coefficients"):
        Method(model="physics", index="greedy", change_test=True)
    tested = Method(model="exact", index="ts", change_test=True)
    assert (tested.name, tested.label) == ("exact-ts-change-test", "GP-TS, change test")


def test_exact_contexts_are_in_the_name() -> None:
    method = Method(model="exact", index="ts", exact_contexts=True)
    assert method.name == "exact-ts-exact-contexts"
    assert method.label == "GP-TS, exact contexts"
