"""`assay extract`: the same text as the service gives, without a server."""

import json
import logging
import os
import subprocess
import sys
from typing import NamedTuple

import pytest
import structlog

from assay import cli
from tests import factories
from tests.content.test_fetching import response, serving


@pytest.fixture
def extract(tmp_path, monkeypatch, capsys):
    """Call the command as its entry point does; what it said, and how it ended."""

    def extract(*arguments, **environment):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["assay", "extract", *map(str, arguments)])
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return Ended(ended.value.code or 0, said.out, said.err)

    yield extract
    structlog.reset_defaults()  # logs would go on to where this test has listened
    logging.basicConfig(handlers=[], force=True)


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def terms(tmp_path):
    path = tmp_path / "terms.docx"
    path.write_bytes(factories.docx("Be kind.", "Be honest – always."))
    return path


def test_it_prints_the_text_and_nothing_else(terms):
    done = subprocess.run(
        [sys.executable, "-m", "assay", "extract", terms],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert (done.stdout, done.stderr) == ("Be kind.\n\nBe honest – always.\n", "")


def test_it_prints_the_text_with_its_structure(extract, terms):
    content = json.loads(extract(terms, "--json").stdout)

    assert content["text"] == "Be kind.\n\nBe honest – always."
    assert [block["kind"] for block in content["blocks"]] == ["paragraph", "paragraph"]
    assert content["uuid"] is None


def test_it_prints_markdown(extract, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><h1>Terms</h1><p>Be kind.")

    assert extract(path, "--markdown").stdout.strip() == "# Terms\n\nBe kind."


def test_it_reads_an_address_that_is_open(extract):
    with serving() as site:
        site.pages["/dpa.pdf"] = response(factories.pdf("Be kind."))

        done = extract(site.url("/dpa.pdf"), ASSAY_FETCH__ALLOW=f"127.0.0.1:{site.port}")

    assert (done.returncode, done.stdout) == (0, "Be kind.\n")


def test_it_writes_nothing_to_the_disk(extract, terms, tmp_path):
    before = sorted(tmp_path.rglob("*"))

    extract(terms)

    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("absent.pdf", "absent.pdf cannot be read: no such file or directory."),
        (".", "cannot be read: is a directory."),
        ("damaged.pdf", "The PDF is damaged"),
        ("picture.png", "neither a PDF, a DOCX, a web page nor plain text"),
        ("http://127.0.0.1:9/", "The URL leads to an address that is not open to this service."),
        ("ftp://example.com/", "The URL must begin with http:// or https://."),
    ],
)
def test_what_cannot_be_read_is_a_sentence_and_a_code(extract, tmp_path, source, says):
    (tmp_path / "damaged.pdf").write_bytes(b"%PDF-1.7 damaged")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")

    done = extract(source)

    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_over_the_limit_is_refused_by_its_size(extract, terms):
    done = extract(terms, ASSAY_LIMITS__FILE_BYTES="100")

    assert done.returncode == 2
    assert "larger than the limit of 100 bytes" in done.stderr
