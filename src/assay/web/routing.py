"""The route class of the API: who is calling is settled before anything else of a request is looked at."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from assay.identity.models import Scope
from assay.web.bodies import invalid, read_json, refuse_unknown

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def guarded(scope: Scope) -> type[APIRoute]:
    """Routes that need this scope. No route of such a router can forget to ask for it."""

    class GuardedRoute(APIRoute):
        def __init__(self, *args: Any, **options: Any) -> None:
            extra = {"security": [{"bearer": [scope.value]}], **(options.pop("openapi_extra", None) or {})}
            super().__init__(*args, openapi_extra=extra, **options)

        def get_route_handler(self) -> Handler:
            inner = _strict(super().get_route_handler(), self)

            async def handle(request: Request) -> Response:
                gatekeeper = request.app.state.gatekeeper
                principal = await run_in_threadpool(gatekeeper.admit, request.scope["headers"], scope)
                request.state.principal = principal
                return await inner(request)

            return handle

    return GuardedRoute


def _strict(inner: Handler, route: APIRoute) -> Handler:
    """Unknown query parameters are refused, and JSON is read strictly before the framework sees it."""
    parameters = set(_query_names(route.dependant))
    model = route.body_field.field_info.annotation if route.body_field else None

    async def handle(request: Request) -> Response:
        refuse_unknown("query parameter", request.query_params.keys(), parameters)
        if model is not None:
            request = await read_json(request, request.app.state.settings.limits.json_bytes)
        try:
            return await inner(request)
        except RequestValidationError as error:
            raise invalid(error.errors(), model) from None

    return handle


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)
