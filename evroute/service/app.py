"""The HTTP application: paths, answers and statuses."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from evroute import __version__
from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError
from evroute.network.catalog import network_names
from evroute.planning import documents
from evroute.service import answers
from evroute.service.bodies import parsed
from evroute.service.formats import ARROW, PARQUET, accepted
from evroute.service.guard import BODY, METRICS, Held, LimitedService, Limits, LoggedFailures
from evroute.service.metrics import MEDIA_TYPE, Measured, Metrics
from evroute.service.problems import RefusedError, problem
from evroute.service.requests import (
    Drive,
    MatrixBody,
    Name,
    NeededDay,
    NeededRequest,
    PlacesRequest,
    PlanBody,
    PlanRequests,
    RangeBody,
    Trips,
)
from evroute.service.work import ConflictingTripsError, Work
from evroute.validation.invalid import problem_text

B = TypeVar("B", bound=BaseModel)
MOST_S = 30.0
LOCAL_HOSTS = ("127.0.0.1", "localhost")
_REASONS = {
    400: "The header `Host` names another machine, or a body has two lengths.",
    401: "The token is missing or wrong.",
    408: "The head or the body came too slowly.",
    413: "The body is too large.",
    415: "The body is no JSON by its content type.",
    422: "The request cannot be met. `detail` names the first problem.",
    429: "Too many requests at once. Try again after `Retry-After` seconds.",
    500: "An internal error, logged with its `id`.",
}
_CONFLICT = "An id already belongs to other measurements."
_BODIES: tuple[type[BaseModel], ...] = (
    PlanBody,
    PlanRequests,
    RangeBody,
    MatrixBody,
    Drive,
    NeededDay,
    Trips,
)
_TABLES = {
    "description": "JSON, or a table with a row for each pair, by the header `Accept`.",
    "content": {
        kind: {"schema": {"type": "string", "format": "binary"}} for kind in (ARROW, PARQUET)
    },
}


def make_app(
    beliefs: Path,
    *,
    token: str = "",
    hosts: tuple[str, ...] = LOCAL_HOSTS,
    most_s: float = MOST_S,
    limits: Limits = Limits(),  # noqa: B008
    metrics_folder: Path | None = None,
    loaded: bool = False,
) -> ASGIApp:
    """Return the ASGI application of the service.

    Parameters
    ----------
    beliefs
        Folder with a folder for each belief, by name. It is made with the first trips.
    token
        Secret that every request but ``/healthz`` must carry, or none if empty.
    hosts
        Accepted names in the header ``Host``.
    most_s
        Seconds after which no further plan of ``/v1/plans`` is begun.
    limits
        Limits of the requests of this process.
    metrics_folder
        Folder of the numbers of all workers, or None for a service of one process.
    loaded
        Whether compiled code and the usual roads are loaded before the first request.
    """
    work = Work(beliefs, most_s)
    if loaded:
        work.load()
    held = Held()
    metrics = Metrics(held, metrics_folder)
    app = _Service(
        title="evroute",
        version=__version__,
        description="Energy-efficient routes for electric cars, learned from driven trips.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        responses=_problems(_REASONS),
        generate_unique_id_function=lambda route: route.name,  # names of methods in clients
    )
    app.add_middleware(LoggedFailures)
    app.add_exception_handler(EvrouteError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _not_there)

    @app.get("/healthz", summary="Whether the service answers", response_model=answers.Health)
    async def healthz() -> JSONResponse:  # in no thread, all of which may wait
        return JSONResponse(answers.Health(status="ok", version=__version__))

    @app.get(METRICS, include_in_schema=False)
    async def text_of_metrics() -> Response:  # in no thread, all of which may wait
        return Response(metrics.text(), media_type=MEDIA_TYPE)

    app.include_router(_paths(work))
    limited = LimitedService(app, token=token, hosts=hosts, limits=limits, held=held)
    return Measured(limited, metrics, [*app.openapi()["paths"], METRICS, "/openapi.json"])


def _paths(work: Work) -> APIRouter:
    """Return the paths that need a token where the service has one.

    Answers are made as their types say, and sent as they are.
    """
    bearer = HTTPBearer(auto_error=False, description="Of `evroute serve --token-file`.")
    router = APIRouter(prefix="/v1", dependencies=[Depends(bearer)])

    @router.get("/networks", summary="Names of the networks", response_model=answers.Networks)
    def networks() -> JSONResponse:
        return JSONResponse(answers.Networks(networks=list(network_names())))

    @router.get("/vehicles", summary="Names of the vehicles", response_model=answers.Vehicles)
    def vehicles() -> JSONResponse:
        return JSONResponse(answers.Vehicles(vehicles=vehicle_names()))

    @router.get("/places", summary="Find places by name", response_model=answers.Places)
    def places(request: Annotated[PlacesRequest, Query()]) -> JSONResponse:
        return JSONResponse(work.places(request))

    @router.post(
        "/plan",
        summary="Plan a trip",
        response_model=documents.Plan,
        openapi_extra=_body(PlanBody),
    )
    def plan(request: Annotated[PlanBody, _of_body(PlanBody)]) -> JSONResponse:
        return JSONResponse(work.plan(request))

    @router.post(
        "/driven",
        summary="Say what is left of a trip by the drive so far",
        response_model=documents.Ahead,
        openapi_extra=_body(Drive),
    )
    def driven(drive: Annotated[Drive, _of_body(Drive)]) -> JSONResponse:
        return JSONResponse(work.driven(drive))

    @router.post(
        "/plans",
        summary="Plan many trips",
        response_model=answers.Plans,
        openapi_extra=_body(PlanRequests),
    )
    def plans(requests: Annotated[PlanRequests, _of_body(PlanRequests)]) -> JSONResponse:
        return JSONResponse(work.plans(requests.requests))

    @router.post(
        "/range",
        name="range",
        summary="Find the roads within reach of a charge",
        response_model=answers.Range,
        openapi_extra=_body(RangeBody),
    )
    def range_(request: Annotated[RangeBody, _of_body(RangeBody)]) -> JSONResponse:
        return JSONResponse(work.range(request))

    @router.post(
        "/matrix",
        summary="Find the least energies between places",
        response_model=answers.Matrix,
        responses=_problems({406: "No format of the header `Accept` is offered."}) | {200: _TABLES},
        openapi_extra=_body(MatrixBody),
    )
    def matrix(request: Request, places: Annotated[MatrixBody, _of_body(MatrixBody)]) -> Response:
        n_pairs = len(places.origins) * len(places.destinations)
        media_type = accepted(request.headers.get("accept", "*/*"), n_pairs)
        return work.matrix(places).answer(media_type)

    @router.get(
        "/needed", summary="Find the charge that a trip needs", response_model=documents.Needed
    )
    def needed(request: Annotated[NeededRequest, Query()]) -> JSONResponse:
        return JSONResponse(work.needed(request))

    @router.post(
        "/needed",
        name="needed_of_day",
        summary="Find the charge that all trips of a day need together",
        response_model=documents.NeededOfDay,
        openapi_extra=_body(NeededDay),
    )
    def needed_of_day(request: Annotated[NeededDay, _of_body(NeededDay)]) -> JSONResponse:
        return JSONResponse(work.needed_of_day(request))

    @router.post(
        "/trips",
        summary="Learn measured trips into a belief",
        response_model=answers.LearnedTrips,
        responses=_problems({409: _CONFLICT}),
        openapi_extra=_body(Trips),
    )
    def trips(measured: Annotated[Trips, _of_body(Trips)]) -> JSONResponse:
        return JSONResponse(work.learn(measured))

    @router.get(
        "/beliefs/{name}",
        summary="Learned state of a belief",
        response_model=answers.Belief,
        responses=_problems({404: "There is no such belief."}),
    )
    def belief(
        name: Annotated[Name, PathParameter()], car: Annotated[str | None, Query()] = None
    ) -> JSONResponse:
        return JSONResponse(work.belief(name, car))

    return router


class _Service(FastAPI):
    """FastAPI whose document has the types of bodies, which it does not read itself."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            _, types = models_json_schema(
                [(body, "validation") for body in _BODIES],
                ref_template="#/components/schemas/{model}",
            )
            document["components"]["schemas"] |= types["$defs"]
        return super().openapi()


def _of_body(model: type[B]) -> Any:
    """Return the dependency on a request from the body. It is read in a thread of its own."""

    def read(request: Request) -> B:
        return parsed(model, request.scope[BODY], request.headers.get("content-type", ""))

    return Depends(read)


def _body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the body of an operation as the OpenAPI document has it."""
    reference = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    return {"requestBody": {"required": True, "content": {"application/json": reference}}}


def _problems(reasons: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"description": reason, "model": answers.Problem}
        for status, reason in reasons.items()
    }


def _refused(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that cannot be met."""
    start_percent = steps = None
    if isinstance(error, NotEnoughChargeError):
        start_percent, steps = error.start_percent, [dict(step) for step in error.steps]
    status = 422
    if isinstance(error, RefusedError):
        status = error.status
    elif isinstance(error, ConflictingTripsError):
        status = 409
    elif isinstance(error, UnknownNameError) and "name" in request.path_params:
        status = 404
    return problem(status, str(error), start_percent=start_percent, steps=steps or None)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Answer a request with an invalid path or query."""
    assert isinstance(error, RequestValidationError)
    first = dict(error.errors()[0])
    first["loc"] = first["loc"][1:]  # without "path" or "query"
    known = () if "name" in request.path_params else _QUERY
    return problem(422, problem_text(first, known))


def _not_there(request: Request, error: Exception) -> JSONResponse:
    """Answer a request to another path or with another method."""
    assert isinstance(error, HTTPException)
    answer = problem(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


_QUERY = [
    field.alias or name
    for request in (NeededRequest, PlacesRequest)
    for name, field in request.model_fields.items()
]
