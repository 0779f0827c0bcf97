"""From the name of a host to its addresses, in no more time than there is."""

import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from ipaddress import ip_address
from threading import Thread

from assay.content.fetching.failures import HostNotFound, LookUpFailed
from assay.content.fetching.hosts import Address
from assay.content.fetching.wire import Deadline

Resolve = Callable[[str, int], Sequence[Address]]

_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


def system(host: str, port: int) -> list[Address]:
    """As this machine looks names up, in the order in which it would try the addresses."""
    # As bytes, because a name in ASCII must not be encoded a second time.
    found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    return [ip_address(str(endpoint[0]).partition("%")[0]) for *_, endpoint in found]


def look_up(resolve: Resolve, host: str, port: int, deadline: Deadline) -> Sequence[Address]:
    """The addresses of the host. The C library cannot be interrupted, so a thread waits for it."""
    answer: Future[Sequence[Address]] = Future()
    Thread(target=_answer, args=(answer, resolve, host, port), daemon=True).start()
    while not wait([answer], timeout=deadline.pause()).done:
        pass
    try:
        return answer.result()
    except socket.gaierror as error:
        raise (HostNotFound if error.errno in _NO_SUCH_NAME else LookUpFailed) from error
    except OSError as error:
        raise LookUpFailed from error


def _answer(answer: Future[Sequence[Address]], resolve: Resolve, host: str, port: int) -> None:
    try:
        answer.set_result(resolve(host, port))
    except Exception as error:  # noqa: BLE001 (raised again in the thread that waits)
        answer.set_exception(error)
