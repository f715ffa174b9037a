"""Requests to the service, drawn by Schemathesis from its OpenAPI document.

Half of them are right by the document, half wrong. Places, networks and edges of most of the right
ones are known, or hardly any would be planned or learned. An answer is a fault if it is a server
error, has a status, a type or fields other than described, or is an error of more than 1 kB.
"""

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, openapi
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from evroute.methods.setting import load_setting
from evroute.service.app import make_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
MOST_BYTES = 1_000
EXAMPLES = 10
"""Requests of each kind and operation at a time."""
BELIEF = "fuzzed"
KNOWN: dict[str, Any] = {
    "network": "denver",
    "origin": "Blake Street & 17th Street",
    "destination": "39.7407,-104.9811",
    "from": "Blake Street & 17th Street",
    "to": "39.7407,-104.9811",
    "vehicle": "nissan-leaf-40",
    "via": [],
    "belief": BELIEF,
    "name": BELIEF,
}
EDGES = "edges"


class Service:
    """The service in this process, with the beliefs in a folder."""

    def __init__(self, place: Path) -> None:
        host = "testserver"  # that of Starlette's client
        self.schema = openapi.from_asgi("/openapi.json", make_app(place, hosts=(host,)))
        setting = load_setting("denver", "reference")
        route = setting.search.route(setting.network.time_s, 3, 900)
        self.route = [setting.network.edge_id[row] for row in route.rows]
        self.sent = 0

    def faults(self, number: int) -> list[str]:
        """Send requests to every operation; return the faults, at most one for each and kind."""
        found = []
        for operation in self.schema.get_all_operations():
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                try:
                    self._ask(operation.ok(), mode, number)
                except Unsatisfiable:
                    continue  # nothing of this operation can be wrong
                except (Exception, FailureGroup) as error:
                    found.append(f"seed {number}, {operation.ok().label}: {error}")
        return found

    def _ask(self, operation: Any, mode: GenerationMode, number: int) -> None:
        @seeded(number)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(
            case=operation.as_strategy(generation_mode=mode),
            unknown=st.sets(st.sampled_from([*KNOWN, EDGES]), max_size=2),
        )
        def ask(case: Case, unknown: set[str]) -> None:
            if mode is GenerationMode.POSITIVE:
                self._make_known(case.body, unknown)
                self._make_known(case.query, unknown)
                self._make_known(case.path_parameters, unknown)
            response = case.call()
            self.sent += 1
            case.validate_response(response, checks=CHECKS)
            if response.status_code >= 400:
                assert len(response.content) <= MOST_BYTES, f"{len(response.content)} bytes"

        ask()

    def _make_known(self, value: Any, unknown: set[str]) -> None:
        """Set the fields of requests to known values, save those that stay as drawn."""
        if not isinstance(value, dict):
            return
        for name in KNOWN.keys() & value.keys() - unknown:
            value[name] = KNOWN[name]
        for request in value.get("requests", ()):
            self._make_known(request, unknown)
        for trip in value.get("trips", ()) if EDGES not in unknown else ():
            for edge, name in zip(trip.get("edges", ()), self.route, strict=False):
                edge["edge"] = name
