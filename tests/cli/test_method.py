"""``evroute method``: what there is, and its options."""

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.cli.method import OPTIONS
from evroute.errors import UnknownNameError
from evroute.methods.parts import INDICES, METHODS, MODELS, defaults_of
from evroute.model.context_kernels import KERNELS

RUNNER = CliRunner()


def test_everything_that_can_be_named_is_listed() -> None:
    told = RUNNER.invoke(app, ["method", "list"])
    assert told.exit_code == 0, told.output
    words = set(told.stdout.replace("│", " ").split())
    assert {*METHODS, *MODELS, *INDICES, *KERNELS} <= words
    assert "`" not in told.stdout


def test_options_are_shown_with_their_defaults() -> None:
    told = RUNNER.invoke(app, ["method", "show", "gp-bayes-ucb"])
    assert told.exit_code == 0, told.output
    words = told.stdout.replace("│", " ").split()
    assert words[words.index("xi") + 1] == "1.0"


def test_the_options_of_models_and_indices_are_told_and_no_others_than_there_are() -> None:
    there = {
        option
        for table in (MODELS, INDICES)
        for name in table
        for option in defaults_of(table, name)
    }
    assert set(OPTIONS) == there


def test_a_part_without_options_says_so() -> None:
    assert "It has no options." in RUNNER.invoke(app, ["method", "show", "greedy"]).stdout


def test_an_unknown_name_is_refused() -> None:
    refused = RUNNER.invoke(app, ["method", "show", "magic"])
    assert isinstance(refused.exception, UnknownNameError)
    assert "method list" in str(refused.exception)


@pytest.mark.parametrize(
    ("known", "name"), [(MODELS, name) for name in MODELS] + [(INDICES, name) for name in INDICES]
)
def test_every_part_says_what_it_is(known, name) -> None:
    from evroute.methods.parts import summary_of

    assert len(summary_of(known, name)) > 20
