"""Texts as cells of CSV and on terminals."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evroute.text import STEERING, cell, escaped, text_of_cell

FORMULAS = (
    "=1+1",
    "+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "-2+3|cmd",
    '-1+HYPERLINK("x")',
    "-a!b",
    "-(1)",
)
HARMLESS = ("", "'s-Gravenhage", "''", "-120#1", "--87_0", "a=1", "12", "Straße", " =1", "'-120#1")


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("before", ["", "'", "'''"])
def test_a_formula_gets_one_apostrophe(text: str, before: str) -> None:
    assert cell(before + text) == f"'{before}{text}"
    assert text_of_cell(f"'{before}{text}") == before + text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert cell(text) == text_of_cell(text) == text


@settings(max_examples=2000, deadline=None)
@given(st.text(st.one_of(st.sampled_from("'=+@-\t\r\n(|!\"a"), st.characters()), max_size=8))
@example("'=1")
def test_a_cell_is_read_as_the_text_that_was_written(text: str) -> None:
    written = cell(text)
    assert text_of_cell(written) == text
    assert not written.startswith(("=", "+", "@", "\t", "\r"))


STEER = "\x00\x07\x1b\x7f\x80\x9b\x9f\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069\ud800\uffff"


def test_signs_that_steer_a_terminal_are_escaped_by_hand() -> None:
    assert escaped("a\x9bb\u202ec") == "a\\u009bb\\u202ec"
    assert escaped("Straße\t東京 🚗\nend") == "Straße\t東京 🚗\nend"
    shown = escaped(STEER)
    assert shown.isascii()
    assert json.loads(f'"{shown}"') == STEER
    every = "".join(map(chr, range(0x110000)))
    assert escaped(every) == STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", every)


@settings(max_examples=300, deadline=None)
@given(st.text(st.one_of(st.sampled_from(STEER), st.characters(codec=None))))
def test_an_escaped_document_has_the_same_values(text: str) -> None:
    line = json.dumps({text: [text]}, ensure_ascii=False)
    assert json.loads(escaped(line)) == {text: [text]}
    assert not STEERING.search(escaped(line))
