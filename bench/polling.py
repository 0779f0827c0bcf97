"""Clients that poll while others upload: how long each answer took, and whether each was one."""

import asyncio
import time
from collections.abc import Callable


async def latencies(port: int, request: bytes, *, clients: int, until: Callable[[], bool]) -> list[float]:
    """The seconds of every poll of so many clients, until it is over. WrongAnswer for any that is not 200."""
    polls = [_poll(port, request, until) for _ in range(clients)]
    return [seconds for some in await asyncio.gather(*polls) for seconds in some]


async def _poll(port: int, request: bytes, until: Callable[[], bool]) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken = []
    while not until():
        started = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        length = head.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        taken.append(time.perf_counter() - started)
    writer.close()
    return taken
