"""The least that FastAPI needs to tell a job's status: what polling is compared with. Run as a process."""

import sys
from typing import Any

from fastapi import FastAPI
from sqlalchemy import create_engine, select

from assay.content.store import content_jobs
from bench.bare import serve


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
    serve(create_app(sys.stdin.readline().strip()))


if __name__ == "__main__":
    main()
