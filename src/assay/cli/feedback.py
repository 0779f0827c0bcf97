"""`assay feedback`: what experts' feedback has taught."""

import json

import typer
from rich.table import Column, Table

from assay import settings
from assay.assessments import adjustments
from assay.assessments.judging.teaching import Lesson
from assay.assessments.models import Topic
from assay.cli.terminal import AsJson, DataDir, opened, out, say
from assay.identity import store as identity_store

app = typer.Typer(help="What experts' feedback has taught.", no_args_is_help=True)


@app.command()
def report(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Show how often experts agree before and after learning, by partner and criterion."""
    with opened(settings.load(data_dir=data_dir)) as database, database.read() as tx:
        names = {partner.subject: partner.name or partner.subject for partner in identity_store.list_(tx)}
        rows = [_row(names, topic, lesson) for topic, lesson in adjustments.list_(tx)]
    if as_json:
        say(json.dumps(rows, ensure_ascii=False))
        return
    if not rows:
        out.print("No expert has named a category yet.")
        return
    table = Table(
        "partner", "framework", Column("criterion", overflow="fold"), "opinions", "before", "after", "learned"
    )
    for row in rows:
        table.add_row(
            str(row["partner"]),
            f"{row['framework']} {row['frameworkVersion']}",
            str(row["criterion"]),
            f"{row['opinions']} on {row['documents']} documents",
            _share(row["before"]),
            _share(row["after"]),
            str(row["learned"] or "nothing yet"),
        )
    out.print(table, soft_wrap=False)
    out.print("After: on documents that were held out while it was learned.")


def _row(names: dict[str, str], topic: Topic, lesson: Lesson) -> dict[str, object]:
    return {
        "partner": names.get(topic.subject, topic.subject),
        "framework": topic.framework_code_name,
        "frameworkVersion": topic.framework_version,
        "criterion": topic.criterion_code_name,
        "opinions": lesson.opinions,
        "documents": lesson.documents,
        "before": round(lesson.agreed_before / lesson.opinions, 4) if lesson.opinions else None,
        "after": round(lesson.agreed_after / lesson.opinions, 4) if lesson.opinions else None,
        "learned": _learned(lesson),
    }


def _learned(lesson: Lesson) -> str | None:
    if lesson.scorer is not None:
        return lesson.scorer.name
    return f"threshold {0.5 + lesson.shift:.2f}" if lesson.shift else None


def _share(value: object) -> str:
    return f"{value:.0%}" if isinstance(value, float) else ""


@app.callback()
def feedback_() -> None:
    """Keep `report` a command of its own: typer folds a single one into its group."""
