"""BBKB, batch GP-UCB and batch Thompson sampling as models: `batches.Batches` with their rules."""

from pydantic import Field

from evroute.model.nystrom.batches import Batches, Mode
from evroute.model.nystrom.gp import NystromOptions
from evroute.model.nystrom.sampling import Redraw, RedrawOptions
from evroute.model.nystrom.stopping import StopRule


class ModeOptions(NystromOptions):
    """Options of models that learn in batches."""

    mode: Mode = Field(
        default="strict",
        description="strict: a closed batch is measured whole before the next plan; soft: "
        "unfinished trips are carried over",
    )


class StopOptions(ModeOptions):
    """Options of models that close a batch by a bound."""

    stop_rule: StopRule = Field(
        default="local",
        description="rule that closes a batch: local, global, global-local, exact-ratio, product",
    )
    threshold: float = Field(
        default=2.0,
        ge=1,
        description="change of variances at which a batch closes; 1 is one trip a batch",
    )
    max_batch_trips: int = Field(default=50, ge=1, description="largest number of trips in a batch")

    def batches(self, redraw: Redraw | None) -> Batches:
        """Return a new rule that closes batches by these options."""
        return Batches(
            redraw,
            stop_rule=self.stop_rule,
            threshold=self.threshold,
            mode=self.mode,
            max_trips=self.max_batch_trips,
        )


class BBKBOptions(RedrawOptions, StopOptions):
    """BBKB: mean and dictionary are renewed once the variances have shrunk by a threshold."""

    label = engine = "BBKB"

    def rule(self) -> Batches:
        """Return the rule of BBKB."""
        return self.batches(self.redraw())


class BatchUCBOptions(StopOptions):
    """Batch GP-UCB: an exact posterior, renewed once the product of running variances is large."""

    label = "Batch GP"
    engine = "batch GP-UCB"

    stop_rule: StopRule = Field(
        default="product", description="rule that closes a batch, see bbkb; product is exact"
    )

    def rule(self) -> Batches:
        """Return the rule of batch GP-UCB."""
        return self.batches(None)


class DelayedOptions(ModeOptions):
    """Exact posterior renewed after batches of fixed size, whose trips ignore each other."""

    label = "Batch GP without hallucination"
    engine = "delayed"

    batch_trips: int = Field(default=30, ge=1, description="trips in a batch")

    def rule(self) -> Batches:
        """Return the rule of batches of fixed size."""
        return Batches(
            None, stop_rule=None, threshold=1.0, mode=self.mode, max_trips=self.batch_trips
        )
