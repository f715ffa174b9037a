"""``evroute bandit``."""

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.network.catalog import data_path


def test_a_bandit_leaves_a_table_and_a_figure(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(
        'problem = "chessboard"\nhorizon = 8\nrepetitions = 2\nmethods = ["ek-ucb", "bbkb"]\n'
    )
    result = CliRunner().invoke(
        app, ["bandit", str(path), "--out", str(tmp_path / "out"), "--quiet"]
    )
    assert result.exit_code == 0, result.output
    assert "chessboard, 8 rounds, 2 repetitions" in result.output
    assert {"rounds.parquet", "table.csv", "bandit.png"} <= {
        each.name for each in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize(
    "path", sorted(data_path("bandits").glob("*.toml")), ids=lambda path: path.stem
)
def test_shipped_bandits_are_valid(path):
    from evroute.bandits.kernel_bandit import load_bandit

    assert load_bandit(path).repetitions >= 3
