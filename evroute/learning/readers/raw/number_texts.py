"""Numbers as people write them: decimal commas, separators of thousands, and units in cells."""

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.csv

_WITH_UNIT = re.compile(
    r"([-+−]?\s*(?:\d[\d\s.,'’]*|[.,]\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.,+−-][^\d]*)?", re.DOTALL
)
_THOUSANDS = re.compile(r"[-+−]?\s*\d{1,3}(,\d{3})+")
_DOTTED = re.compile(r"[-+]?\d{1,3}(\.\d{3}){2,}")
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?(inf|infinity|nan)", re.IGNORECASE)
ODD = 0.1
"""Largest share of the values of a column that may be no numbers."""
NO_NUMBER = {*pyarrow.csv.ConvertOptions().null_values, "-", "--", "—"}


def numbers_of(column: pa.ChunkedArray, separator: str) -> tuple[pa.ChunkedArray, str, bool, int]:
    """Return a column of texts as texts that Arrow reads as numbers, and how they were written.

    Texts that are no numbers stay as they are, if they are more than `ODD` of the column.

    Parameters
    ----------
    column
        Texts.
    separator
        Of the columns of the file. Where it is a comma, quoted numbers such as "1,234" have
        thousands.

    Returns
    -------
    tuple
        Texts. Unit after all numbers, or empty. Whether they have a decimal comma. Number
        of texts left out that are no numbers.
    """
    texts = [_filled(text) for text in column.to_pylist()]
    matches = [None if text is None else _WITH_UNIT.fullmatch(text) for text in texts]
    numbers = [match for match in matches if match]
    units = {(match[2] or "").strip() for match in numbers}
    unit = units.pop() if len(units) == 1 else ""
    comma = _decimal_comma([match[1] for match in numbers], separator)
    found = [
        _digits(match[1], comma) if match is not None and (unit or not match[2]) else text
        for text, match in zip(texts, matches, strict=True)
    ]
    strange = _strange(found)
    for place in strange:
        found[place] = None
    return pa.chunked_array([found], pa.string()), unit, comma, len(strange)


def _strange(texts: Sequence[str | None]) -> list[int]:
    """Return the places of texts that are no numbers, or none if they are too many."""
    filled = [place for place, text in enumerate(texts) if text is not None]
    odd = [place for place in filled if not _PLAIN.fullmatch(texts[place] or "")]
    return odd if len(odd) <= ODD * len(filled) else []


def _filled(text: str | None) -> str | None:
    """Return a text without blanks around it, or None if it stands for no value."""
    stripped = (text or "").strip()
    return None if not stripped or stripped in NO_NUMBER else stripped


def _digits(number: str, comma: bool) -> str:
    """Return a number without separators of thousands and with a decimal point."""
    dot = "," if comma else "."
    digits = re.sub(r"[\s'’]", "", number).replace("−", "-")
    digits = digits.replace("." if comma else ",", "").replace(dot, ".")
    return digits.replace(".", "") if _DOTTED.fullmatch(digits) else digits


def _decimal_comma(numbers: Sequence[str], separator: str) -> bool:
    """Return whether numbers have a decimal comma."""
    with_comma = [number for number in numbers if "," in number]
    if not with_comma:
        return False
    for number in with_comma:
        if "." in number:
            return number.rindex(",") > number.rindex(".")
    if any(number.count(",") > 1 for number in with_comma):
        return False
    thousands = all(_THOUSANDS.fullmatch(number.strip()) for number in with_comma)
    return not (separator == "," and thousands)
