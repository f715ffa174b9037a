"""Options of a command that are made of the fields of a request."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from evroute.planning.fields import Entry, Request, entries_of
from evroute.planning.request import PlanRequest
from evroute.validation.forms import Form, Number, Places, Share, Truth


def takes_request(
    model: type[Request] = PlanRequest,
    *,
    first: tuple[str, ...] = (),
    before: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command an option for each field of a request.

    The command takes them as ``**given``, which `texts_of` reads.

    Parameters
    ----------
    model
        The request.
    first
        Parameters of the command whose options stand before the request's.
    before
        Further parameters, and the name of the field before which each stands.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = dict(inspect.signature(command).parameters)
        own.pop("given")
        ordered = [own.pop(name) for name in first]
        standing = {field: own.pop(name) for name, field in (before or {}).items()}
        for name, entry in entries_of(model).items():
            ordered += [standing[name]] if name in standing else []
            ordered.append(_parameter(name, entry))
        ordered += own.values()
        signature = inspect.Signature(
            [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in ordered]
        )
        command.__signature__ = signature  # type: ignore[attr-defined]
        return command

    return decorated


def texts_of(given: Mapping[str, Any], model: type[Request] = PlanRequest) -> dict[str, Any]:
    """Return the given texts by the names of the fields. Options that were left out are missing.

    Parameters
    ----------
    given
        Values of the options by parameter.
    model
        The request.
    """
    texts = {name: given[entry.field] for name, entry in entries_of(model).items()}
    return {name: text for name, text in texts.items() if text not in (None, False, [])}


def _parameter(name: str, entry: Entry) -> inspect.Parameter:
    kind: Any = str | None
    default: Any = None
    if isinstance(entry.form, Truth):
        kind, default = bool, False
    elif isinstance(entry.form, Places):
        kind = list[str] | None
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=entry.form.metavar or _metavar(entry.form),
        help=_help(entry),
    )
    return inspect.Parameter(
        entry.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )


def _metavar(form: Form) -> str | None:
    """Return the kind of a number as typer writes it, or None for other values."""
    if not isinstance(form, Number):
        return None
    kind = "int" if form.whole else "float"
    return f"<{kind} range>" if form.range else f"<{kind}>"


def _help(entry: Entry) -> str:
    """Return the sentence of a field, with its default and its range."""
    known = entry.default is not None and not isinstance(entry.default, bool | tuple)
    share = isinstance(entry.form, Share)
    default = entry.form.write(entry.default) if share and known else entry.default
    notes = [f"default: {default}"] if known else []
    notes += [entry.form.range] if entry.form.range and not entry.form.metavar else []
    return entry.form.help + (f"  [{'; '.join(notes)}]" if notes else "")
