"""A bare FastAPI route that sends the bytes of a file, for `frameworks` to compare with. Run as a process."""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response

from assay.server import take_port


def main() -> None:
    """Serve the file that standard input names, at every path."""
    listener = take_port("127.0.0.1", 0)
    body = Path(sys.stdin.readline().strip()).read_bytes()
    app = FastAPI(openapi_url=None)

    @app.get("/{path:path}")
    def answer(path: str) -> Response:  # noqa: ARG001  # whichever it is
        return Response(body, media_type="application/json")

    print(f"listens on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app, http="httptools", loop="uvloop", ws="none", log_config=None, access_log=False
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
