"""Output streams on which foreign texts cannot steer the terminal."""

import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from evroute.text import escaped


class EscapedStream:
    """A text stream that writes the characters of `text.STEERING` as escapes.

    Escapes follow JSON, so that a printed document has the same values.

    Parameters
    ----------
    stream
        The stream itself, which programs that draw on a terminal need.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, and return its length."""
        self.stream.write(escaped(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def escaped_output() -> ExitStack:
    """Return a context in which standard output and standard error are escaped."""
    stack = ExitStack()
    stack.enter_context(redirect_stdout(EscapedStream(sys.stdout)))
    stack.enter_context(redirect_stderr(EscapedStream(sys.stderr)))
    return stack


def itself(stream: Any) -> TextIO:
    """Return the stream within an escaped one, or a stream that is none."""
    while isinstance(stream, EscapedStream):
        stream = stream.stream
    found: TextIO = stream
    return found
