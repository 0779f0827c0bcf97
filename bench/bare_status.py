"""The least that FastAPI needs to tell a job's status: what polling is compared with. Run as a process."""

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import create_engine, select

from assay.content.store import content_jobs
from assay.server import take_port


def create_app(database_url: str) -> FastAPI:
    app = FastAPI(openapi_url=None)
    engine = create_engine(database_url)

    @app.get("/api/v1/content-processing/{uuid}/status")
    def status(uuid: str) -> dict[str, Any]:
        with engine.connect() as connection:
            row = connection.execute(select(content_jobs).where(content_jobs.c.uuid == uuid)).one()
        return {
            "uuid": row.uuid,
            "sourceType": row.source_type,
            "sourceUrl": row.source_url,
            "fileName": row.file_name,
            "status": row.status,
            "error": row.error,
            "createdAt": row.created_at,
            "completedAt": row.completed_at,
            "fetchedAt": row.fetched_at,
        }

    return app


def main() -> None:
    """Serve the database whose URL comes by standard input."""
    listener = take_port("127.0.0.1", 0)
    app = create_app(sys.stdin.readline().strip())
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


if __name__ == "__main__":
    main()
