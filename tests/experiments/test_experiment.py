"""Experiments: grids, files, and what is refused before anything runs."""

import re

import pytest

from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.experiment import Experiment, grid, load_experiment, simulate
from evroute.resources import data_path

SMALL = (
    'horizon = 3\nseeds = 2\nmethods = [{model = "exact", index = "ts"}]\n[trips]\ndenver = ["A"]\n'
)


@pytest.mark.parametrize(
    "path", sorted(data_path("experiments").glob("*.toml")), ids=lambda p: p.stem
)
def test_every_shipped_experiment_is_valid(path) -> None:
    assert list(load_experiment(path).runs())


def test_figure_2_is_sixty_thousand_rounds_of_six_methods_and_greedy() -> None:
    experiment = load_experiment(data_path("experiments", "figure2.toml"))
    runs = [run for run in experiment.runs() if run.method.index != "greedy"]
    assert sum(run.horizon for run in runs) == 60_000
    assert {run.method.label for run in runs} == {
        f"{model}-{index}"
        for model in ("GP", "BI")
        for index in ("UCB", "BayesUCB", "TS (variance scale 1)")
    }
    assert {(run.network, run.trip) for run in runs} == {
        (n, t) for n in ("luxembourg", "monaco") for t in "AB"
    }


def test_a_grid_is_every_combination_and_paired_runs_differ_in_the_method_alone() -> None:
    experiment = grid(
        networks=["denver", "monaco"],
        trips=["A", "B"],
        models=["exact", "independent"],
        indices=["ts", "ucb"],
        options={"variance_scale": 0.25},
        search=["rectified", "potential"],
        horizon=10,
        seeds=3,
    )
    runs = list(experiment.runs())
    assert len(runs) == 2 * 2 * 4 * 2 * 3
    assert len({run.name for run in runs}) == len(runs)
    assert "monaco-B-exact-ts-v0.25-rectified-s2" in {run.name for run in runs}
    assert "denver-A-independent-ucb-potential-s0" in {run.name for run in runs}


def test_a_default_run_has_the_readable_name() -> None:
    experiment = grid(
        networks=["monaco"], trips=["A"], models=["exact"], indices=["ts"], options={}
    )
    assert next(experiment.runs()).name == "monaco-A-exact-ts-potential-rectified-s0"


def test_priors_and_lengthscales_multiply_the_grid() -> None:
    experiment = grid(
        networks=["monaco"],
        trips=["A"],
        models=["exact"],
        indices=["ts"],
        options={},
        prior=["paper", "dissipation"],
        lengthscale=[1.0, 0.5],
        seeds=1,
    )
    assert [run.name for run in experiment.runs()] == [
        "monaco-A-exact-ts-potential-rectified-s0",
        "monaco-A-exact-ts-potential-rectified-l0.5-s0",
        "monaco-A-exact-ts-potential-rectified-dissipation-s0",
        "monaco-A-exact-ts-potential-rectified-dissipation-l0.5-s0",
    ]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("prior", ["guess"], "unknown prior 'guess'. There are paper, dissipation"),
        ("lengthscale", [0.0], "lengthscale.0"),
    ],
)
def test_a_prior_or_lengthscale_that_cannot_be_is_refused(field, value, told) -> None:
    fields = {
        "networks": ["monaco"],
        "trips": ["A"],
        "models": ["exact"],
        "indices": ["ts"],
        "options": {},
    }
    with pytest.raises(EvrouteError, match=told):
        grid(**fields, **{field: value})


def test_model_options_go_to_the_models_that_take_them() -> None:
    experiment = grid(
        networks=["denver"],
        trips=["A"],
        models=["exact", "independent"],
        indices=["ts"],
        options={"lengthscale_factor": 2.0},
    )
    assert [method.name for method in experiment.methods] == ["exact-l2-ts", "independent-ts"]
    with pytest.raises(EvrouteError, match="no method takes slots: not exact with ts"):
        grid(
            networks=["denver"],
            trips=["A"],
            models=["exact"],
            indices=["ts"],
            options={"slots": "literal"},
        )


def test_an_option_that_no_index_takes_is_refused() -> None:
    with pytest.raises(
        EvrouteError,
        match="no method takes variance_scale: not exact with ucb and not exact with greedy",
    ):
        grid(
            networks=["denver"],
            trips=["A"],
            models=["exact"],
            indices=["ucb", "greedy"],
            options={"variance_scale": 1.0},
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("horizon = 3", "horizon = 0"), "horizon is 0. It must be greater than 0"),
        (("seeds = 2", "seeds = -1"), "seeds is -1. It must be greater than 0"),
        (("seeds = 2", 'seeds = "many"'), "seeds is 'many'. It must be a valid integer"),
        (("horizon = 3", "horizont = 3"), "unknown key 'horizont'"),
        (('index = "ts"', 'index = "ts", speed = 2'), "takes speed"),
        (('["A"]', "[]"), "trips.denver has 0 items. Give at least 1"),
        (('["A"]', '["A", "A"]'), "run denver-A-exact-ts-potential-rectified-s0 occurs twice"),
        (("horizon = 3", "closed_share = 1.0"), "closed_share is 1.0. It must be less than 1"),
        (("horizon = 3", "horizon = 3 ="), "is not TOML"),
        (("horizon = 3", 'search = ["fastest"]'), "unknown search 'fastest'. There are potential,"),
        (("horizon = 3", 'world = "real"'), "unknown world 'real'. There are sampled-gp"),
        (('index = "ts"', 'index = "tsm"'), "unknown index 'tsm'. There are ucb,"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, change, message) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(SMALL.replace(*change))
    with pytest.raises(EvrouteError, match=re.escape(message)) as error:
        load_experiment(path)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_said_to_be(tmp_path) -> None:
    with pytest.raises(EvrouteError, match="does not exist"):
        load_experiment(tmp_path / "none.toml")


def test_keyword_arguments_replace_fields_of_a_file(tmp_path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    assert load_experiment(path).horizon == 3
    assert load_experiment(path, horizon=7).horizon == 7


@pytest.mark.parametrize(
    ("trips", "message"),
    [
        ({"denver": ["Z"]}, "network 'denver' has no trip 'Z'. It has A, B"),
        ({"nowhere": ["A"]}, "'nowhere'"),
    ],
)
def test_unknown_places_are_refused_and_leave_no_folder(tmp_path, trips, message) -> None:
    experiment = Experiment(trips=trips, methods=[{"model": "exact", "index": "ts"}])
    with pytest.raises(UnknownNameError, match=message):
        simulate(experiment, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_process_is_not_enough(tmp_path) -> None:
    experiment = Experiment(trips={"denver": ["A"]}, methods=[{"model": "exact", "index": "ts"}])
    with pytest.raises(ValueError, match="at least 1"):
        simulate(experiment, tmp_path, jobs=0)


def test_worlds_multiply_the_grid_and_stand_in_the_names_of_runs(tmp_path) -> None:
    windy = tmp_path / "windy.toml"
    windy.write_text('kind = "physics"\nwind_mps = 5\n')
    path = tmp_path / "small.toml"
    path.write_text(
        'horizon = 3\nseeds = 1\nworld = ["sampled-gp", "cold", '
        f'"{windy}", {{ kind = "physics", payload_kg = 300 }}]\n'
        'methods = [{ model = "exact", index = "ts" }]\n[trips]\ndenver = ["A"]\n'
    )
    assert [run.name for run in load_experiment(path).runs()] == [
        "denver-A-exact-ts-potential-rectified-s0",
        "denver-A-cold-exact-ts-potential-rectified-s0",
        "denver-A-windy-exact-ts-potential-rectified-s0",
        "denver-A-physics-payloadkg300-exact-ts-potential-rectified-s0",
    ]


def test_a_share_of_closed_edges_goes_to_every_world(tmp_path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(f'closed_share = 0.1\nworld = ["sampled-gp", "everything"]\n{SMALL}')
    assert [world.model_dump()["closed_share"] for world in load_experiment(path).world] == [
        0.1,
        0.1,
    ]
    changed = load_experiment(path, closed_share=0.2)
    assert [world.model_dump()["closed_share"] for world in changed.world] == [0.2, 0.2]
    alone = load_experiment(data_path("experiments", "closures.toml"))
    assert [world.label for world in alone.world] == ["sampled-gp-closedshare0.05"]


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ('{ kind = "physics", hail = 1 }', "kind 'physics' has no option 'hail'"),
        ('["physics", "physics"]', "run denver-A-physics-exact-ts"),
        ("[]", "world has 0 items. Give at least 1"),
        ("7", "world 7 is neither a name nor a file nor a table"),
    ],
)
def test_a_world_that_cannot_be_is_refused(tmp_path, world, message) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(f"world = {world}\n{SMALL}")
    with pytest.raises(EvrouteError, match=re.escape(message)):
        load_experiment(path)


def test_an_experiment_in_worlds_survives_its_manifest() -> None:
    experiment = load_experiment(
        data_path("experiments", "paired.toml"), world=["everything", "cold", "sampled-gp"]
    )
    told = experiment.model_dump(mode="json", exclude_none=True)
    assert Experiment.model_validate(told) == experiment
