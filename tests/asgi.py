"""A request spoken by hand: its body comes piece by piece, when the test says so, or breaks off."""

import asyncio
import json
import threading

PATIENCE = 20.0


class Call:
    """One request to the app behind a client, in the client's own event loop."""

    def __init__(self, client, method, path, headers=None):
        self._client = client
        self._headers = {**client.headers, **(headers or {})}
        self._scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in self._headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
        }
        self._messages = asyncio.Queue()
        self._hungry = threading.Event()
        self._sent = []
        self._done = client.portal.start_task_soon(self._run)

    async def _run(self):
        try:
            await self._client.app(self._scope, self._receive, self._send)
        finally:
            self._hungry.set()  # it will ask for nothing more, so nobody need wait for that

    async def _receive(self):
        self._hungry.set()
        return await self._messages.get()

    async def _send(self, message):
        self._sent.append(message)

    def send(self, body, *, more=True):
        """Give the app a piece; returns when it has taken it in and asks for the next, or has answered."""
        self._put({"type": "http.request", "body": body, "more_body": more})
        if more:
            assert self._hungry.wait(PATIENCE)

    def break_off(self):
        self._put({"type": "http.disconnect"})

    def _put(self, message):
        assert self._hungry.wait(PATIENCE)
        self._hungry.clear()
        self._client.portal.call(self._messages.put_nowait, message)

    def is_answered(self):
        return self._done.done()

    def answer(self):
        """Status and JSON body of the answer, once it has come."""
        self._done.result(PATIENCE)
        body = b"".join(message.get("body", b"") for message in self._sent[1:])
        return self._sent[0]["status"], json.loads(body)
