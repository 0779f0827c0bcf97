"""The route class of the API: who is calling is settled before anything else of a request is looked at."""

import asyncio
import functools
import inspect
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
Admit = Callable[[Request], None]


def guarded(scope: Scope) -> type[APIRoute]:
    """Routes that need this scope. No route of such a router can forget to ask for it."""

    class GuardedRoute(APIRoute):
        def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
            extra = {"security": [{"bearer": [scope.value]}], **(options.pop("openapi_extra", None) or {})}
            self._is_plain = not inspect.iscoroutinefunction(endpoint)
            super().__init__(path, _threaded(endpoint), openapi_extra=extra, **options)

        def get_route_handler(self) -> Handler:
            inner = _strict(super().get_route_handler(), self)
            admit = functools.partial(_admit, scope=scope, submits=_creates_work(self))
            return (_in_one_thread if self._is_plain and _never_waits(self) else _in_turn)(inner, admit)

    return GuardedRoute


def _admit(request: Request, *, scope: Scope, submits: bool) -> None:
    """Who is calling, and whether that partner has not called too often. The edge adds the `RateLimit-*`."""
    principal = request.app.state.gatekeeper.admit(request.scope["headers"], scope)
    request.state.principal = principal
    request.state.allowance = allowance = request.app.state.rates.take(principal.subject, submits=submits)
    allowance.check()


def _creates_work(route: APIRoute) -> bool:
    """What answers 202 has promised to do something."""
    return route.status_code == 202


def _threaded(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """A plain endpoint runs in a thread: in this one, where it is a worker already."""
    if inspect.iscoroutinefunction(endpoint):
        return endpoint

    @functools.wraps(endpoint)
    async def call(**values: Any) -> Any:
        return await run_in_threadpool(endpoint, **values) if _on_event_loop() else endpoint(**values)

    return call


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_turn(inner: Handler, admit: Admit) -> Handler:
    """The caller is settled, in a thread where that may wait; then the framework goes on by its own rules."""

    async def handle(request: Request) -> Response:
        if request.app.state.gatekeeper.is_quick:
            admit(request)
        else:
            await run_in_threadpool(admit, request)
        return await inner(request)

    return handle


def _in_one_thread(inner: Handler, admit: Admit) -> Handler:
    """Everything from the token to the serialised answer in one thread.

    A plain endpoint would cost three changes of thread: to admit, to call it, and to look at what it
    returned. They are most of what a small answer costs.
    """

    def answer(request: Request) -> Response:
        admit(request)
        return _result(inner(request))

    async def handle(request: Request) -> Response:
        return await run_in_threadpool(answer, request)

    return handle


def _never_waits(route: APIRoute) -> bool:
    """Whether nothing between the headers and the answer of a plain endpoint needs the event loop."""
    return route.body_field is None and all(map(_hands_over, route.dependant.dependencies))


def _hands_over(dependant: Dependant) -> bool:
    """Coroutines, as in `caller`, hand over what is there already; the framework runs others in threads."""
    return inspect.iscoroutinefunction(dependant.call) and all(map(_hands_over, dependant.dependencies))


def _result(coroutine: Coroutine[Any, Any, Response]) -> Response:
    """What a coroutine returns that has nothing to wait for, and so needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        response: Response = done.value
        return response
    coroutine.close()
    raise RuntimeError("A dependency of a plain endpoint waits; make the endpoint `async`.")


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
