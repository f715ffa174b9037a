"""Options of models and indices: their form, their ranges, and what they build."""

import re
from itertools import chain
from types import SimpleNamespace

import pytest
from numpy.random import default_rng

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.parts import INDICES, MODELS, index_options, made_by, model_options
from evroute.methods.setting import Setting

PARTS = [model_options(name) for name in MODELS] + [index_options(name) for name in INDICES]


@pytest.mark.parametrize("options", PARTS, ids=lambda part: part.__name__)
def test_every_option_has_a_default_a_range_and_a_sentence(options) -> None:
    assert options.described().keys() == options.model_fields.keys()
    for name, (valid, sentence) in options.described().items():
        assert not options.model_fields[name].is_required()
        assert len(valid) > 3
        assert len(sentence.split()) > 2


def test_there_are_at_most_99_options_and_abbreviations_are_of_options() -> None:
    names = set(chain.from_iterable(part.model_fields for part in PARTS))
    assert set(chain.from_iterable(part.short for part in PARTS)) <= names
    assert len(names) <= 99


@pytest.mark.parametrize("options", PARTS, ids=lambda part: part.__name__)
def test_options_build_the_class_that_they_declare(options, hill) -> None:
    setting = Setting(hill, load_vehicle("reference"))
    arguments = (setting, default_rng(0)) if hasattr(options, "only_edges") else (setting,)
    assert type(options().build(*arguments)) is made_by(options)


def test_a_model_takes_its_prior_from_the_setting(hill) -> None:
    """The values are handed over by hand; a renamed parameter or attribute fails here."""
    setting = Setting(hill, load_vehicle("reference"))
    model = model_options("exact")().build(setting, default_rng(0))
    assert model.posterior(setting.arms).std_wh ** 2 == pytest.approx(setting.prior_variance_wh2)
    assert model.noise_std(setting.arms) == pytest.approx(setting.noise_std_wh)
    random = index_options("random").checked({}).build(SimpleNamespace(potential_wh=[1.0]))
    assert random.potential_wh == [1.0]


@pytest.mark.parametrize(
    ("options", "name", "value", "valid"),
    [
        (model_options("svgp"), "inducing_points", 0, "an integer >= 1"),
        (model_options("svgp"), "choice", "sorted", "pivoted or most-used"),
        (model_options("svgp-gpytorch"), "batch_size", -5, "an integer >= 1 or none"),
        (model_options("svgp-gpytorch"), "natural_rate", 1.5, "a number > 0 and <= 1"),
        (model_options("physics+gp"), "rest_scale", float("inf"), "a number > 0"),
        (model_options("factor"), "factor_std", 0.0, "a number > 0"),
        (model_options("physics"), "coefficient_scale", float("nan"), "a number > 0"),
        (model_options("physics+gp"), "coefficient_scale", 0.0, "a number > 0"),
        (model_options("physics+gp"), "rest_scale", 0.0, "a number > 0"),
        (model_options("bkb"), "max_dictionary", 0, "an integer >= 1 or none"),
        (model_options("bkb"), "q_bar", 0.0, "a number > 0"),
        (model_options("bbkb"), "threshold", 0.5, "a number >= 1"),
        (model_options("bbkb"), "max_batch_trips", -1, "an integer >= 1"),
        (model_options("ek-ucb"), "eps", 1.0, "a number > 0 and < 1"),
        (model_options("k-ucb"), "ridge", 0.0, "a number > 0"),
        (index_options("ts"), "variance_scale", 0.0, "a number > 0"),
        (index_options("ts-joint"), "variance_scale", "big", "a number > 0"),
        (index_options("bayes-ucb"), "xi", -1.0, "a number > 0"),
        (index_options("ucb"), "beta_scale", -0.1, "a number >= 0"),
        (index_options("cmm-ucb"), "B", 0.0, "a number > 0 or auto"),
        (index_options("igp-ucb"), "refresh_every", 0, "an integer >= 1"),
        (index_options("radius"), "delta", 1.0, "a number > 0 and < 1"),
        (index_options("epsilon-greedy"), "epsilon", 1.1, "a number >= 0 and <= 1"),
    ],
)
def test_a_value_out_of_range_is_refused_in_one_line_with_the_range(
    options, name, value, valid
) -> None:
    wrong = re.escape(f"option {name} is {value!r}. It must be ")
    with pytest.raises(EvrouteError, match=wrong) as refused:
        options.checked({name: value})
    assert options.described()[name][0] == valid
    assert "\n" not in str(refused.value)
