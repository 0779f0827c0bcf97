"""A bare FastAPI route that sends the bytes of a file, for `frameworks` to compare with. Run as a process."""

import sys
from pathlib import Path

from fastapi import FastAPI, Response

from bench.bare import serve


def main() -> None:
    """Serve the file that standard input names, at every path."""
    body = Path(sys.stdin.readline().strip()).read_bytes()
    app = FastAPI(openapi_url=None)

    @app.get("/{path:path}")
    def answer(path: str) -> Response:  # noqa: ARG001  # whichever it is
        return Response(body, media_type="application/json")

    serve(app)


if __name__ == "__main__":
    main()
