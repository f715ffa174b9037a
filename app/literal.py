"""Text from data for Streamlit's Markdown: names, paths and messages appear literally.

Streamlit reads Markdown, links, LaTeX, coloured text, icons and arrows in labels and messages, and
it fetches the pictures that Markdown names.
"""

import re

_SIGNS = re.compile(r"[\\`*_\[\]<>~$&|@:]|(?<=:material)/|(?<=www)\.")
_LIST_OR_HEADING = re.compile(r"^(\d*)([#+.)=-])")
_REPLACED = re.compile(r"(?:(?<=\s)|^)([-<>~])(?=[->=]+(?:\s|$))|(?<=:)(?=material_|streamlit:)")
_JOINER = "\u2060"


def literal(text: str) -> str:
    """Return Markdown that shows a text literally, on one line.

    Arrows (``->``) and icons, which Streamlit replaces in spite of backslashes, get an invisible
    word joiner.
    """
    joined = _REPLACED.sub(rf"\1{_JOINER}", " ".join(text.split()))
    return _LIST_OR_HEADING.sub(r"\1\\\2", _SIGNS.sub(r"\\\g<0>", joined))


def sentence(text: str) -> str:
    """Return Markdown that shows a text as a sentence: with a capital and a full stop."""
    return literal(f"{text[:1].upper()}{text[1:]}.")
