"""``evroute method``: what there is, and its options."""

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import UnknownNameError
from evroute.methods.parts import INDICES, METHODS, MODELS, summary_of
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


def test_ranges_and_sentences_are_shown() -> None:
    words = " ".join(
        RUNNER.invoke(app, ["method", "show", "radius"]).stdout.replace("│", " ").split()
    )
    assert "delta 0.1 a number > 0 and < 1 probability that any" in words


def test_a_part_without_options_says_so() -> None:
    assert "It has no options." in RUNNER.invoke(app, ["method", "show", "greedy"]).stdout


def test_an_unknown_name_is_refused() -> None:
    refused = RUNNER.invoke(app, ["method", "show", "magic"])
    assert isinstance(refused.exception, UnknownNameError)
    assert "method list" in str(refused.exception)


@pytest.mark.parametrize(
    ("known", "name"), [(MODELS, name) for name in MODELS] + [(INDICES, name) for name in INDICES]
)
def test_every_part_has_a_description(known, name) -> None:
    assert len(summary_of(known, name)) > 20
