"""Texts that try to run: as Python in a template, in a page, as Markdown, in a terminal."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.experiments.experiment import Experiment, simulate
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.tables import read_columns, write_columns

TRIED: set[tuple[str, str]] = set()
"""Pairs of field and output in this session."""
PYTHON = "{{{{cycler.__init__.__globals__.os.mkdir(dict(ran_{0}=1)|first)}}}}"
"""Needs no quotes, which escaping takes; leaves a folder behind."""
BLOCK = "{{%if cycler.__init__.__globals__.os.mkdir(dict(ran_{0}_block=1)|first)%}}{{%endif%}}{{#"
PAGE = (
    "<img src=x onerror=window.__ran=1> </script><script>window.__ran=1</script> <x-probe>"
    " \"'><x-probe> `+(window.__ran=1)+` ${{window.__ran=1}} \\"
)
MARKDOWN = (
    "[a](javascript:window.__ran=1) ![b](http://127.0.0.1:9/probe.png) :red[c] $x^2$ **d**"
    " :streamlit: :material/home: -> `e` www.f_g_.org"
)
TERMINAL = "[/b] [bold red]h [link=file:///i]j[/link] :smile:"
SHORT = PYTHON + "<img src=x onerror=window.__ran=1>"
LONG = " ".join([PYTHON, BLOCK, PAGE, MARKDOWN, TERMINAL, "größer & <b> {{{{ 7 * 7 }}}}"])


class Payload:
    """Texts that try to run, one for each field; `tried` counts fields that reached an output."""

    def long(self, field: str) -> str:
        """Return a text with every trick."""
        return LONG.format(field)

    def short(self, field: str) -> str:
        """Return a text that can name a file."""
        return SHORT.format(field)

    def tried(self, output: str, *fields: str) -> None:
        """Count, and check that no text ran as Python: each would leave a folder here."""
        TRIED.update((field, output) for field in fields)
        assert [path.name for path in Path.cwd().rglob("ran_*")] == []


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


UNSET = (None, "", ())
"""Values of optional fields of a vehicle that its file leaves out."""


@pytest.fixture
def payload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Payload:
    """Texts that try to run, in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return Payload()


@pytest.fixture(scope="session")
def hostile_text() -> Payload:
    """The same texts, for fixtures of a module."""
    return Payload()


@pytest.fixture(scope="session")
def parsed() -> Callable[[str], tuple[list[tuple[str, tuple[str, ...]]], str]]:
    """Offer the elements of a page with the names of their attributes, and its text."""

    def parse(html: str) -> tuple[list[tuple[str, tuple[str, ...]]], str]:
        elements = _Elements()
        elements.feed(html)
        elements.close()
        return elements.elements, " ".join(" ".join(elements.text).split())

    return parse


@pytest.fixture(scope="session", autouse=True)
def _count() -> Iterator[None]:
    """Print the pairs of field and output that were tried (``pytest -s``)."""
    yield
    fields, outputs = ({pair[k] for pair in TRIED} for k in (0, 1))
    print(f"\n{len(TRIED)} pairs tried, of {len(fields)} fields and {len(outputs)} outputs; 0 ran")


TEXT_COLUMNS = ("method", "model", "index", "search", "trip", "world", "prior", "vehicle")


@pytest.fixture(scope="session")
def run_folder() -> Callable[..., Path]:
    """Offer a run folder of two methods with a text from ``text(field)`` in every text of it.

    The network lies in a file and the vehicle in another one, both named by ``file_name(field)``;
    runs, and so their files, bear these names too.
    """

    def make(
        network: RoadNetwork,
        folder: Path,
        text: Callable[[str], str],
        file_name: Callable[[str], str],
    ) -> Path:
        roads, car = Path(f"{file_name('network')}.npz"), Path(f"{file_name('car')}.toml")
        store.save(network, roads)
        numbers = asdict(load_vehicle("reference")) | {"name": text("vehicle.name")}
        sources = numbers.pop("sources") | {"mass_kg": text("vehicle.sources")}
        tables = [
            f"{name} = {json.dumps(value)}" for name, value in numbers.items() if value not in UNSET
        ]
        tables += ["[sources]", *(f"{name} = {json.dumps(each)}" for name, each in sources.items())]
        car.write_text("\n".join(tables), encoding="utf-8")
        trip = f"{network.edge_id[0]} to {network.edge_id[5]}"
        table = {"trips": {str(roads): [trip]}, "methods": ["gp-ts", "bi-ucb"], "vehicle": str(car)}
        simulate(Experiment.model_validate(table | {"horizon": 3, "seeds": 1}), folder)
        for k, path in enumerate(sorted((folder / "parts").iterdir())):
            columns = read_columns(path).to_pydict()
            n = len(columns["t"])
            columns |= {name: [f"{text(name)}{k}"] * n for name in TEXT_COLUMNS}
            write_columns(path, columns)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        manifest["configuration"][text("configuration key")] = text("configuration")
        manifest["networks"][text("other network")] = text("digest")
        versions = {text("package"): text("version"), "half a sign": "\ud800"}
        manifest |= {"regret": text("regret"), "versions": versions}
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return folder

    return make
