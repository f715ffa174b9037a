"""Texts: unprintable characters, counted nouns, and text as part of a file name."""

import re
from collections.abc import Iterable
from zlib import crc32

from evroute.errors import EvrouteError

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters except tab and line feed, halves of surrogate pairs, and noncharacters."""
LONGEST_SLUG = 100


def check_printable(kind: str, texts: Iterable[str]) -> None:
    """Check that texts have no unprintable characters; ``kind`` names them, such as ``street``.

    Raises
    ------
    EvrouteError
        If one has; the message shows the text and the character's code.
    """
    for text in texts:
        if not text.isprintable() and (found := UNPRINTABLE.search(text)):
            raise EvrouteError(
                f"{kind} {text[:40]!a} holds U+{ord(found[0]):04X}, which cannot be shown; remove "
                "it"
            )


def cut(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text, with an ellipsis if there are more."""
    return text if len(text) <= most else f"{text[:most]}..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 run`` or ``2 runs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def slug(text: str) -> str:
    """Return a text as part of a file name: cut and with other characters replaced.

    A changed text ends in its checksum.
    """
    safe = re.sub(r"[^\w.-]+", "_", text)[:LONGEST_SLUG]
    return safe if safe == text else f"{safe}-{crc32(text.encode()):08x}"
