"""The least that FastAPI needs to give the same answer: what `info` is compared with. Run as a process."""

import json
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI

from assay.server import take_port


def create_app(body: dict[str, Any]) -> FastAPI:
    app = FastAPI(openapi_url=None)

    @app.get("/api/v1/info")
    def info() -> dict[str, Any]:
        return body

    return app


def serve(app: FastAPI) -> None:
    """As the service is served, but for its own protocol and log; its first words are its address."""
    listener = take_port("127.0.0.1", 0)
    print(f"listens on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app,
        http="httptools",
        loop="uvloop",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


def main() -> None:
    """Serve the JSON object that comes by standard input."""
    serve(create_app(json.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
