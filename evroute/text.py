"""Texts: unprintable characters, cells of CSV, counted nouns, and text as part of a file name.

Foreign texts are shown on terminals with escapes, and written to CSV so that no spreadsheet runs
them as a formula (https://owasp.org/www-community/attacks/CSV_Injection). A cell is read back as
the same text: of the apostrophes before a formula one is added by `cell` and removed by
`text_of_cell`. Other cells stay as they are, such as ``'s-Gravenhage`` and ``-120#1``.
"""

import re
from collections.abc import Iterable
from zlib import crc32

from evroute.errors import EvrouteError

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters except tab and line feed, halves of surrogate pairs, and noncharacters."""
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufffe\uffff]"
)
"""The characters of `UNPRINTABLE`, and those that reorder or break the line that shows them."""
LONGEST_SLUG = 100
_FORMULA = re.compile("'*+(?:[=+@\t\r]|-.*[(|!\"])", re.DOTALL)
"""Start of a cell that a spreadsheet may run, after any apostrophes."""


def check_printable(
    kind: str, texts: Iterable[str], refused: re.Pattern[str] = UNPRINTABLE
) -> None:
    """Check that texts can be shown.

    Parameters
    ----------
    kind
        Noun for the texts, such as ``street``.
    texts
        The texts.
    refused
        Characters that they may not have, `UNPRINTABLE` or `STEERING`.

    Raises
    ------
    EvrouteError
        If one has. The message shows the text and the character's code.
    """
    texts = tuple(texts)
    if "".join(texts).isprintable():
        return  # by far the fastest test
    for text in texts:
        if not text.isprintable() and (found := refused.search(text)):
            raise EvrouteError(
                f"{kind} {text[:40]!a} holds U+{ord(found[0]):04X}, which cannot be shown. Remove "
                "it"
            )


def escaped(text: str) -> str:
    """Return a text whose characters of `STEERING` are the escapes of JSON, as in ``u009b``."""
    if text.replace("\n", " ").isprintable():
        return text  # by far the fastest test
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def cell(text: str) -> str:
    """Return a text as a cell of CSV, with an apostrophe before a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def text_of_cell(written: str) -> str:
    """Return the text that `cell` wrote."""
    return written[1:] if written.startswith("'") and _FORMULA.match(written) else written


def cut(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text, with an ellipsis if there are more."""
    return text if len(text) <= most else f"{text[:most]}..."


def one_line(kind: str, fields: Iterable[tuple[str, object]]) -> str:
    """Return an object as ``kind(name=value, ...)``.

    Parameters
    ----------
    kind
        Name of its class.
    fields
        Names and values.
    """
    return f"{kind}({', '.join(f'{name}={value!r}' for name, value in fields)})"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 run`` or ``2 runs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def slug(text: str) -> str:
    """Return a text as part of a file name: cut and with other characters replaced.

    A changed text ends in its checksum.
    """
    safe = re.sub(r"[^\w.-]+", "_", text)[:LONGEST_SLUG]
    return safe if safe == text else f"{safe}-{crc32(text.encode()):08x}"
