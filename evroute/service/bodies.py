"""JSON bodies: judged by their shape while they are bytes, then parsed, then validated.

A small body can stand for millions of objects, and a validation lists every wrong key. So depth,
keys and values are counted over the bytes, outside of strings, before any object is made. A
validation ends at the first wrong item of a list.
"""

import re
from email.message import Message
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from evroute.service.problems import RefusedError
from evroute.validation.invalid import first_problem

B = TypeVar("B", bound=BaseModel)
MOST_DEPTH = 16
MOST_KEYS = 100
"""Most keys of one object."""
MOST_VALUES = 1_000_000
"""Most items and keys of a body in all."""
_QUOTE, _COLON, _COMMA = b'":,'
_OPENING = np.isin(np.arange(256), list(b"[{"))
_CLOSING = np.isin(np.arange(256), list(b"]}"))
_MARKS = np.isin(np.arange(256), list(b"[]{}:,"))


def parsed(model: type[B], body: bytes | bytearray, content_type: str) -> B:
    """Return a request from its body.

    Parameters
    ----------
    model
        Type of the request.
    body
        JSON in UTF-8.
    content_type
        Value of the header. No other type is read: a page of a foreign site can send those.

    Raises
    ------
    RefusedError
        If the body is no such request. The message has the first problem.
    EvrouteError
        As the model raises it.
    """
    header = Message()
    header["content-type"] = content_type
    if not re.fullmatch(r"application/(.+\+)?json", header.get_content_type()):
        raise RefusedError(
            415, f"the content type is '{content_type}'. Send JSON as application/json"
        )
    check_shape(body)
    try:
        value = from_json(bytes(body), allow_inf_nan=False)
    except ValueError as error:
        raise RefusedError(422, f"the body is not JSON: {error}") from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RefusedError(422, first_problem(error, model.model_fields)) from None


def check_shape(body: bytes | bytearray) -> None:
    """Refuse a body that stands for too many values, or is nested too deep.

    Raises
    ------
    RefusedError
        With status 413 for too many values, 422 for too many keys of one object or levels.
    """
    # escapes are found within strings only; without them every quote begins or ends a string
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    signs = np.frombuffer(plain, dtype=np.uint8)
    outside = ~np.logical_xor.accumulate(signs == _QUOTE)
    marks = signs[outside & _MARKS[signs]]
    opening = _OPENING[marks]
    values = int(opening.sum() + (marks == _COMMA).sum())
    if values > MOST_VALUES:
        raise RefusedError(
            413, f"a body has at most {MOST_VALUES:,} values, this one {values:,}. Send fewer rows"
        )
    depth = np.cumsum(opening.astype(np.int32) - _CLOSING[marks])
    deepest = int(depth.max(initial=0))
    if deepest > MOST_DEPTH:
        raise RefusedError(
            422, f"the body is nested {deepest:,} levels deep, expected at most {MOST_DEPTH}"
        )
    for level in range(1, deepest + 1):
        of_level = marks[depth == level]
        number = np.cumsum(_OPENING[of_level])
        most = int(np.bincount(number[of_level == _COLON], minlength=1).max())
        if most > MOST_KEYS:
            raise RefusedError(422, f"an object has {most:,} keys, expected at most {MOST_KEYS}")
