from bench import page
from bench.__main__ import measurements
from bench.table import Table


def a_table(title: str, figure: float) -> Table:
    return Table(title=title, columns=("what", "ratio"), rows=[("this", figure)], note="How it was taken.")


def test_a_run_of_one_measurement_leaves_the_others_as_they_are(tmp_path):
    path = tmp_path / "reference" / "benchmarks.md"
    page.update(path, {"first": a_table("First", 0.25), "second": a_table("Second", 0.5)})

    page.update(path, {"second": a_table("Second, renamed", 0.75)})

    text = path.read_text("utf-8")
    assert "| this | 0.25 |" in text
    assert "| this | 0.75 |" in text
    assert "| this | 0.5 |" not in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## First",
        "## Second, renamed",
    ]


def test_a_measurement_is_any_module_with_a_measure():
    assert {"info", "tokens"} <= set(measurements())
