"""Memory that a network takes, estimated from the numbers of its edges and turns."""

from evroute import limits

EDGE_BYTES, TURN_BYTES = 600, 300
"""Memory of an edge and of a turn in a process that has planned, bytes: measured on networks of
284,088, 576,080 and 2,002,224 edges."""


def check_memory(edges: int, turns: int, name: str) -> None:
    """Refuse a network that takes too much memory, before it is made.

    Parameters
    ----------
    edges, turns
        Numbers of its edges and turns.
    name
        The network or the file, for the message.

    Raises
    ------
    LimitError
        If it takes more than the limit ``network_mb``, or has more turns for each edge than
        ``turns_per_edge``.
    """
    limits.check("turns_per_edge", turns / max(edges, 1), f"{name} has {{}} turns for each edge")
    needed_mb = (edges * EDGE_BYTES + turns * TURN_BYTES) / 1e6
    limits.check(
        "network_mb", needed_mb, f"{name} has {edges:,} edges and {turns:,} turns: {{}} MB"
    )
