"""Hostile TOML and JSON, and arguments of the command line."""

from collections.abc import Sequence
from pathlib import Path

from case import MB, Command, kind, nested, one
from numpy.random import Generator


def _hostile_toml(rng: Generator) -> bytes:
    many = int(rng.integers(101, 200_000))
    texts = [
        lambda: "x = " + nested(rng),
        lambda: "x = " + nested(rng, "{a=", "}"),
        lambda: ".".join(["a"] * many) + " = 1",
        lambda: "[" + ".".join(['"a"'] * many) + "]\n" + "b = 1\n" * 1000,
        lambda: "[[" + " . ".join(["a"] * many) + "]]",
        lambda: "mass_kg = " + "9" * many,
        lambda: "x = '" + "a" * 20 * MB + "'",
        lambda: "x = [" + "1," * 4 * MB + "]",
        lambda: "\n".join(f"key{k} = {k}" for k in range(many)),
        lambda: "name = 'x'\nmass_kg = nan\nrolling = inf",
        lambda: "x = '''" + "''" * many,
        lambda: "x = 1979-05-27T07:32:00." + "9" * many,
    ]
    return one(rng, texts)().encode() + one(rng, [b"", b"\xff\xfe", b"\0"])


@kind
def toml(folder: Path, rng: Generator) -> Command:
    (folder / "x.toml").write_bytes(_hostile_toml(rng))
    path, out = str(folder / "x.toml"), str(folder / "out")
    return Command(
        one(
            rng,
            [
                ["route", "--network", "denver", "--trip", "A", "--vehicle", path],
                ["vehicle", "show", path],
                ["simulate", path, "--out", out],
                ["simulate", "--network", "denver", "--world", path, "--out", out],
                ["bandit", path, "--out", out],
            ],
        )
    )


@kind
def option(folder: Path, rng: Generator) -> Command:
    value = one(
        rng, [nested(rng)[:60_000], "9" * 60_000, "{" * 500, "a.b = 1", "nan", "1e999", "\u2028"]
    )
    name = one(rng, ["beta_scale", "x" * 50_000, "lengthscale_factor", "rest_scale", "controls"])
    chosen = ["simulate", "--network", "denver", "--option", f"{name}={value}"]
    return Command([*chosen, "--horizon", "2", "--seeds", "1", "--out", str(folder / "out")])


@kind
def manifest(folder: Path, rng: Generator) -> Command:
    run = folder / "run"
    (run / "parts").mkdir(parents=True)
    texts = [
        nested(rng),
        nested(rng, '{"a":', "}"),
        "9" * 100_000,
        "[]",
        "null",
        '{"configuration": 5}',
        "{}",
    ]
    (run / "manifest.json").write_text(one(rng, texts))
    (run / "rounds.parquet").write_bytes(
        one(rng, [b"", b"PAR1" * 100, b"PAR1" + bytes(100) + b"PAR1"])
    )
    return Command(["report", str(run)])


@kind
def arguments(folder: Path, rng: Generator) -> Command:
    """Values that no option expects."""
    name, out = "denver", str(folder / "out")
    value = one(rng, ["1e308", "-1e308", "nan", "inf", "-0", "1e-320", "9" * 400, "", "x" * 50_000])
    place = one(rng, ["nan,nan", "91,0", "1e9,1e9", "0,0", "," * 9, "x" * 50_000, "", "\u2028"])
    network = one(rng, ["../../x", "x" * 5_000, "", "a\nb", "/dev/zero", "/", "x.npz", "/dev/null"])
    trip = ["--network", name, "--trip", "A"]
    osm = ["network", "build", name, "--osm", str(folder)]
    return Command(
        one(
            rng,
            [
                ["network", "build", "x", "--graphml", str(graph(folder)), "--smoothing", value],
                ["route", *trip, "--soc", value],
                ["route", *trip, "--max-extra-time", value],
                ["route", *trip, "--temperature", value],
                ["route", "--network", name, "--from", place, "--to", "39.7624,-104.9733"],
                ["route", *trip, "--via", place],
                ["route", "--network", network, "--trip", "A"],
                ["network", "info", network],
                ["route", *trip, "--avoid", place],
                ["range", "--network", name, "--from", place, "--soc", value],
                ["network", "fetch", network],
                ["network", "build", network, "--osm", out],
                ["vehicle", "show", network],
                ["method", "show", network],
                [
                    "simulate",
                    *trip,
                    "--horizon",
                    "2",
                    "--option",
                    f"lengthscale={value}",
                    "--out",
                    out,
                ],
                ["simulate", *trip, "--horizon", "2", "--beta-scale", value, "--out", out],
                [
                    "simulate",
                    *trip,
                    "--horizon",
                    "2",
                    "--option",
                    f"closed_share={value}",
                    "--out",
                    out,
                ],
                ["simulate", "--network", name, "--trip", "random 0-1e9 km", "--out", out],
                ["simulate", "--network", name, "--trip", f"{place} to {place}", "--out", out],
                ["report", network],
                ["learn", "/dev/zero", "--out", out],
                ["learn", str(folder), "--out", out],
                osm,
            ],
        )
    )


def graph(
    folder: Path, roads: Sequence[tuple[int, int]] = ((0, 1), (1, 0), (1, 2), (2, 1))
) -> Path:
    """Write a GraphML file of hilly junctions, three unless other roads are given."""
    keys = [("x", "node", "string"), ("y", "node", "string"), ("elevation", "node", "string")]
    keys += [
        ("length", "edge", "string"),
        ("highway", "edge", "string"),
        ("crs", "graph", "string"),
    ]
    head = "".join(
        f'<key id="{k}" for="{of}" attr.name="{k}" attr.type="{kind_of}"/>'
        for k, of, kind_of in keys
    )
    nodes = "".join(
        f'<node id="{k}"><data key="x">{k / 1000}</data><data key="y">0</data>'
        f'<data key="elevation">{10 * k}</data></node>'
        for k in range(1 + max(map(max, roads)))
    )
    edges = "".join(
        f'<edge source="{a}" target="{b}"><data key="length">120</data>'
        f'<data key="highway">residential</data></edge>'
        for a, b in roads
    )
    graph = f'<graph edgedefault="directed"><data key="crs">epsg:4326</data>{nodes}{edges}</graph>'
    xmlns = "http://graphml.graphdrawing.org/xmlns"
    path = folder / "x.graphml"
    path.write_text(f'<?xml version="1.0"?><graphml xmlns="{xmlns}">{head}{graph}</graphml>')
    return path
