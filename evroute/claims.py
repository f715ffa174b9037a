"""Claims on the runs of an experiment: statement, source, comparator, statistic and threshold.

They stand in the experiment file, so that they are fixed before the runs. The manifest of the runs
stores them with their digest. `report.claims` judges them.
"""

from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field

from evroute.validation.options import Options

Selection = dict[str, str | float]


class Claim(Options):
    """A statement on the mean of a statistic over the seeds, in every panel of the experiment.

    It holds if the mean of ``runs`` is at most ``at_most`` times the mean of ``against``.

    Parameters
    ----------
    statement
        The claim in one sentence.
    source
        Paper and place.
    statistic
        Column of the run table (`report.claims.run_table`). Smaller is better.
    runs
        Values of columns that select the runs of the statement: ``{ method = "GP-TS" }``.
    against
        Values of columns that select the comparator, or a number in the unit of the statistic.
    differs
        The part in which the comparator differs: ``model``, ``index``, ``radius`` (the options of
        the index), or ``setting`` (another column, such as ``lengthscale``). All others are equal.
    at_most
        Largest ratio of the means for which the claim holds.
    """

    statement: str
    source: str
    statistic: str
    runs: Annotated[Selection, Field(min_length=1)]
    against: Annotated[Selection, Field(min_length=1)] | Annotated[float, Field(gt=0)]
    differs: Literal["model", "index", "radius", "setting"] = "model"
    at_most: float = Field(default=1.0, gt=0)


class Claims(Options):
    """The claims of an experiment and the command that makes its runs."""

    command: str
    claim: Annotated[tuple[Claim, ...], Field(min_length=1)]

    def digest(self) -> str:
        """Return the SHA-256 digest of the claims, hexadecimal."""
        return sha256(self.model_dump_json().encode()).hexdigest()
