"""Names are found by texts with typing errors, quickly."""

import random

import numpy as np
import pytest

from evroute.ranking import Ranking, words_of

NAMES = ["Élan Way", "Oak Street & 3rd Street", "Oak Street & 33rd Street", "Oakwood Road", "D'Or"]


def best(text: str) -> list[str]:
    return [NAMES[row] for row in Ranking.of(NAMES).best(text, 5)]


def test_words_have_no_case_accents_and_apostrophes() -> None:
    assert words_of("Élan and l'Été & 20TH/Model3") == ("elan", "lete", "20th", "model", "3")
    assert words_of(" & / ! ") == ()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("elan", "Élan Way"),
        ("Oka Stret & 33", "Oak Street & 33rd Street"),
        ("3rd and oak st", "Oak Street & 3rd Street"),
        ("oak wood", "Oakwood Road"),
        ("d or", "D'Or"),
        ("oakw", "Oakwood Road"),
    ],
)
def test_the_name_that_is_meant_is_first(text: str, first: str) -> None:
    assert best(text)[0] == first


def test_numbers_are_never_mistaken_for_others() -> None:
    assert "Oak Street & 33rd Street" not in best("Oak Street & 3rd Street")[:1]
    scores = Ranking.of(NAMES).scores("33")
    assert scores[2] > 0.5
    assert scores[[0, 3, 4]].max() == 0


def test_an_equal_name_has_the_score_of_one() -> None:
    scores = Ranking.of(NAMES).scores("oakwood ROAD")
    assert scores[3] == pytest.approx(1)
    assert np.delete(scores, 3).max() < 0.9


def test_nothing_fits_and_nothing_is_there() -> None:
    assert best("xyzzy") == []
    assert best("") == []
    assert best("???") == []
    assert Ranking.of([]).best("oak", 5) == []
    assert Ranking.of(["", "&"]).best("oak", 5) == []


def streets(n: int, seed: int) -> list[str]:
    """Return n names: a quarter of them roads, the others crossings of two."""
    draw = random.Random(seed)
    starts = [*"bcdfghklmnprstvw", "br", "cl", "st"]
    syllables = [a + b for a in starts for b in ("a", "e", "i", "o", "u", "ei", "on", "ar")]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(n // 8)]
    kinds = ("Street", "Avenue", "Road", "Place")
    roads = [f"{draw.choice(words).title()} {draw.choice(kinds)}" for _ in range(n // 4)]
    return roads + [" & ".join(draw.sample(roads, 2)) for _ in range(n - len(roads))]


@pytest.mark.parametrize("n", [5_000, 200_000])
def test_a_name_with_an_error_is_found(n: int) -> None:
    names, right = streets(n, 1), 0
    ranking, draw = Ranking.of(names), random.Random(2)
    for _ in range(30):
        name = names[draw.randrange(n)]
        at = draw.randrange(3)
        found = ranking.best(name[:at] + name[at + 1 :], 8)
        right += names[found[0]] == name
    assert right >= 27
