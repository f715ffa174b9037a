"""Methods by name: what is refused, and what they are called."""

import subprocess
import sys

import pytest

from evroute.errors import EvrouteError, UnknownNameError
from evroute.simulation import methods
from evroute.simulation.methods import INDICES, MODELS, Method, model_options_of, options_of


@pytest.mark.parametrize(("field", "known"), [("model", MODELS), ("index", INDICES)])
def test_an_unknown_name_is_told_what_there_is(field, known) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown {field} 'oracle'; there are {', '.join(known)}"):
        Method(**({"model": "exact", "index": "ts"} | {field: "oracle"}))


def test_an_option_that_the_index_does_not_take_is_refused() -> None:
    with pytest.raises(EvrouteError, match="index 'greedy' takes no xi"):
        Method(model="exact", index="greedy", xi=1.0)


@pytest.mark.parametrize(
    ("model", "option"),
    [("exact", {"slots": "literal"}), ("independent", {"fit_hyperparameters": True}), ("exact", {"device": "cuda"})],
)
def test_an_option_that_the_model_does_not_take_is_refused(model, option) -> None:
    with pytest.raises(EvrouteError, match=f"model '{model}' takes no {next(iter(option))}"):
        Method(model=model, index="ts", **option)


def test_every_model_option_is_taken_by_some_model() -> None:
    options = methods.MODEL_OPTIONS | methods.KERNEL_OPTIONS
    assert set().union(*(model_options_of(model) for model in MODELS)) == set(options)


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
        ({"model": "exact", "index": "ts"}, "exact-ts", "GP-TS"),
        ({"model": "independent", "index": "ucb"}, "independent-ucb", "BI-UCB"),
        ({"model": "exact", "index": "ts", "variance_scale": 0.25}, "exact-ts-v0.25", "GP-TS (variance scale 0.25)"),
        (
            {"model": "exact", "index": "bayes-ucb", "xi": 0.5, "omega": 1},
            "exact-bayes-ucb-w1-x0.5",
            "GP-BayesUCB (omega 1, xi 0.5)",
        ),
        ({"model": "exact", "index": "greedy"}, "exact-greedy", "GP-greedy"),
        (
            {"model": "svgp", "index": "ts", "inducing_points": 200, "slots": "literal", "device": "cuda"},
            "svgp-m200-literal-cuda-ts",
            "SVGP-TS (inducing points 200, slots literal, device cuda)",
        ),
        (
            {"model": "exact", "index": "ts", "lengthscale_factor": 0.3, "fit_hyperparameters": True},
            "exact-l0.3-fitted-ts",
            "GP-TS (lengthscale factor 0.3, fit hyperparameters)",
        ),
    ],
)
def test_methods_have_file_names_and_labels(fields, name, label) -> None:
    method = Method(**fields)
    assert (method.name, method.label) == (name, label)


@pytest.mark.parametrize(
    "options",
    [
        {"inducing_points": 0},
        {"batch_size": -5},
        {"slots": "sorted"},
        {"lengthscale_factor": 0},
        {"fit_hyperparameters": False},
        {"variance_scale": 0},
        {"variance_scale": -1},
        {"variance_scale": float("inf")},
        {"variance": 1},
    ],
)
def test_options_out_of_range_or_unknown_are_refused(options) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Method(model="svgp", index="ts", **options)


def test_without_torch_the_other_models_work_and_this_one_names_its_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from evroute.simulation.methods import Method\n"
        "Method(model='exact', index='ts'), Method(model='independent', index='ts')\n"
        "Method(model='svgp', index='ts')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "MissingPackageError: torch is not installed; run: pip install 'evroute[gp]'" in done.stderr
