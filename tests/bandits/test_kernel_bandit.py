"""Kernel bandits: the problems of the papers, and every engine on them."""

import numpy as np
import pytest

from evroute.arms import Arms
from evroute.bandits import kernel_bandit
from evroute.bandits.kernel_bandit import BanditExperiment, load_bandit, play
from evroute.bandits.problems import PROBLEMS, Chessboard, StepDiagonal, VectorKernel
from evroute.bandits.starvation import StarvationExperiment, bands
from evroute.errors import EvrouteError

KERNEL = VectorKernel("rbf", 1.0, 0.2)
ENGINES = ("bkb", "bbkb", "batch-ucb", "batch-ts", "ek-ucb", "k-ucb", "cbkb", "cbbkb", "sup-k-ucb")


def experiment(**fields) -> BanditExperiment:
    return BanditExperiment.model_validate(
        {"problem": "gp-surface", "horizon": 15, "repetitions": 1} | fields
    )


def at(*points) -> Arms:
    return Arms(np.arange(len(points)), np.array(points), np.zeros(len(points)))


def test_the_chessboard_has_three_cells_of_one_and_three_of_a_half():
    centres = [((i - 0.5) / 4, (j - 0.5) / 4) for i in range(1, 5) for j in range(1, 5)]
    value = -Chessboard(KERNEL, np.random.default_rng(0)).cost(at(*centres)).reshape(4, 4)
    assert {(i + 1, j + 1) for i, j in np.argwhere(value == 1.0)} == {(2, 1), (2, 3), (4, 3)}
    assert {(i + 1, j + 1) for i, j in np.argwhere(value == 0.5)} == {(1, 2), (3, 2), (3, 4)}


def test_the_steps_are_bands_beside_the_diagonal():
    arms = at((0.65, 0.5), (0.5, 0.65), (0.5, 0.5), (0.9, 0.1))
    np.testing.assert_array_equal(
        StepDiagonal(KERNEL, np.random.default_rng(0)).cost(arms), [-1.0, -0.5, 0.0, 0.0]
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_worlds_depend_on_their_seed_alone(name):
    costs = []
    for _ in range(2):
        problem = PROBLEMS[name](KERNEL, np.random.default_rng(1))
        world = np.random.default_rng(2)
        costs.append([problem.cost(problem.arms(world)) for _ in range(3)])
    np.testing.assert_array_equal(*costs)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_plays(name, tmp_path):
    rounds = play(experiment(methods=[name]), lambda done: None, tmp_path / "once")
    assert rounds.num_rows == 15
    assert np.all(np.array(rounds["regret"]) >= 0)
    again = play(experiment(methods=[name]), lambda done: None, tmp_path / "again")
    assert rounds["regret"] == again["regret"]


def test_runs_are_kept_and_those_kept_are_not_played_again(tmp_path, monkeypatch, caplog):
    wanted = experiment(methods=["k-ucb", "bbkb"], repetitions=2)

    def interrupt(done: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(wanted, interrupt, tmp_path)
    assert len(list((tmp_path / "parts").iterdir())) == 3
    played: list[tuple[object, int]] = []
    real = kernel_bandit.play_run
    monkeypatch.setattr(
        kernel_bandit, "play_run", lambda m, e, s: played.append((m, s)) or real(m, e, s)
    )
    whole = play(wanted, lambda done: None, tmp_path)
    assert played == [("bbkb", 1)]
    anew = play(wanted, lambda done: None, tmp_path / "anew")
    assert whole.drop_columns("seconds") == anew.drop_columns("seconds")
    with pytest.raises(EvrouteError, match="another configuration"):
        play(experiment(methods=["bkb"]), lambda done: None, tmp_path)
    (tmp_path / "parts" / "0-s0.parquet").write_bytes(b"cut off")
    played.clear()
    mended = play(wanted, lambda done: None, tmp_path)
    assert played == [("k-ucb", 0)]
    assert mended.drop_columns("seconds") == whole.drop_columns("seconds")
    assert caplog.messages == [
        f"{tmp_path / 'parts' / '0-s0.parquet'} is damaged, playing that run again"
    ]


@pytest.mark.parametrize("ridge", [1, 16])
def test_learning_beats_chance_at_every_ridge(ridge, tmp_path):
    """Widths are in units of the noise: beta~ = eta = 1 at each ridge."""
    methods = [
        {"method": "k-ucb", "ridge": ridge, "multiplier": ridge**-0.5},
        {"method": "sup-k-ucb", "ridge": ridge, "eta": 1},
        {"model": "k-ucb", "index": "random"},
    ]
    wanted = experiment(methods=methods, horizon=80, lengthscale=0.3)
    rounds = play(wanted, lambda done: None, tmp_path)
    learned, levels, chance = (np.array(rounds["cumulative_regret"])[[79, 159, 239]]).tolist()
    assert learned < 0.5 * chance
    assert levels < 0.7 * chance


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ('problem = "golf"\nmethods = ["bkb"]', "problem is 'golf'. It must be"),
        (
            'problem = "bump"\nmethods = ["gp-ts"]',
            "model 'exact' needs a road network. On a kernel bandit",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "bkb", q_bar = -1 }]',
            "q_bar is -1. It must be greater than 0",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "bkb", ridge = 0 }]',
            "ridge is 0. It must be greater than 0",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "bbkb", threshold = 0.5 }]',
            "threshold is 0.5. It must be",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "ek-ucb", gamma = -1 }]',
            "gamma is -1. It must be greater than or equal to 0",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "ek-ucb", eps = 1 }]',
            "eps is 1. It must be less than 1",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "sup-k-ucb", eta = 0 }]',
            "eta is 0. It must be greater than 0",
        ),
        (
            'problem = "bump"\nmethods = [{ method = "sup-k-ucb", eta = 0.03 }]\nhorizon = 1000',
            "eta is 0.03. It must be above 0.0316",  # 1 / sqrt(1000)
        ),
        (
            'problem = "bump"\nmethods = [{ method = "sup-k-ucb", gamma = 1 }]',
            "sup-k-ucb takes no gamma",
        ),
        (
            'problem = "bump"\nmethods = ["bkb"]\nnoise_std = 0',
            "It must be greater than 0",
        ),
        ("problem", "is not TOML"),
    ],
)
def test_impossible_bandits_are_refused_in_one_line(tmp_path, fields, says):
    path = tmp_path / "x.toml"
    path.write_text(fields)
    with pytest.raises(EvrouteError, match=says) as told:
        load_bandit(path)
    assert "\n" not in str(told.value)


def test_variances_do_not_starve_where_nothing_was_measured():
    columns = bands(
        StarvationExperiment(problem="variance-starvation", evaluations=(6, 63), repetitions=1)
    )
    far = np.array(columns["x"]) > 0.9
    std, exact, starved = (np.array(columns[name])[far] for name in ("std", "exact_std", "sor_std"))
    np.testing.assert_allclose(std, exact, atol=0.01)
    assert np.all(std > 0.95)
    assert np.all(starved < 0.05)
