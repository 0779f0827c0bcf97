"""Parsers in disposable children, tried with children that are real and misbehave for real."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from assay.content.extraction.sandbox import Sandbox
from assay.content.extraction.sandbox.outcomes import (
    AnswerTooLong,
    Cancelled,
    ChildCrashed,
    ChildOutOfMemory,
    ChildTimedOut,
    SandboxUnavailable,
)
from assay.content.models import DamagedDocument, OverLimit, PasswordProtected
from tests.content.extraction.sandbox_probe import (
    BRIEF,
    LIMITS,
    MIB,
    TASKS,
    ends,
    is_reaped,
    script,
    server_of,
    task,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at Linux measures")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(TASKS, LIMITS) as sandbox:
        yield sandbox


def pdf(text):
    """A PDF of one page with one line."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + table
    return bytes(out + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start)


class TestADocumentIsRead:
    def test_from_bytes_a_file_a_descriptor_or_memory(self, sandbox, tmp_path):
        path = tmp_path / "document"
        path.write_bytes(b"Be kind.")
        with path.open("rb") as file:
            for source in (b"Be kind.", file, file.fileno(), io.BytesIO(b"Be kind.")):
                assert sandbox.run(task("echo"), source)["read"] == "Be kind."

    def test_from_its_start_and_the_callers_position_stays(self, sandbox, tmp_path):
        path = tmp_path / "document"
        path.write_bytes(b"Be kind.")
        with path.open("rb") as file:
            file.seek(3)
            assert sandbox.run(task("echo"), file)["read"] == "Be kind."
            assert file.read() == b"kind."

    def test_with_its_options(self, sandbox):
        options = {"pages": [1, 2], "language": "de", "title": "Über"}
        assert sandbox.run(task("echo"), b"", options=options)["options"] == options

    def test_each_in_a_process_of_its_own(self, sandbox):
        processes = [sandbox.run(task("echo"), b"")["process"] for _ in range(3)]
        assert len({*processes, os.getpid(), server_of(sandbox)}) == 5

    def test_by_pdfium(self, sandbox):
        assert sandbox.run(task("pdf_text"), pdf("The processor shall delete.")) == [
            "The processor shall delete."
        ]

    def test_by_lxml_in_an_encoding_of_its_own(self, sandbox):
        page = "<meta charset=shift_jis><p>契約".encode("shift_jis")
        assert sandbox.run(task("html_text"), page) == "契約"

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "shift_jis", "gb18030", "koi8-r", "idna"])
    def test_by_codecs_that_nobody_used_before(self, sandbox, encoding):
        text = "abc"
        assert sandbox.run(task("decoded"), text.encode(encoding), options={"encoding": encoding}) == text

    def test_with_an_answer_of_many_megabytes(self, sandbox):
        answer = sandbox.run(task("big"), b"", options={"characters": 10_000_000})
        assert answer == "é" * 10_000_000

    def test_with_progress_on_the_way(self, sandbox):
        heard = []
        assert sandbox.run(task("reports"), b"", progress=lambda *counts: heard.append(counts)) == "done"
        assert heard == [(1, 2)]

    def test_only_by_tasks_that_were_loaded(self, sandbox):
        with pytest.raises(ValueError, match="not among the tasks"):
            sandbox.run("os:system", b"")


class TestFailuresArrive:
    def test_by_class_and_with_their_message(self, sandbox):
        with pytest.raises(PasswordProtected) as failure:
            sandbox.run(task("fail_by_name"), b"", options={"kind": "password"})
        assert failure.value.message == "The PDF is protected by a password."
        with pytest.raises(DamagedDocument) as failure:
            sandbox.run(task("fail_by_name"), b"", options={"kind": "damaged", "message": "Page 3 is torn."})
        assert (type(failure.value), failure.value.message) == (DamagedDocument, "Page 3 is torn.")

    def test_without_a_word_of_the_document_when_they_are_bugs(self, sandbox):
        with pytest.raises(ChildCrashed) as failure:
            sandbox.run(task("fail_loudly"), b"the secret clause")
        assert "RuntimeError" in failure.value.message
        assert "secret" not in repr(failure.value)
        assert failure.value.__cause__ is failure.value.__context__ is None

    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("abort", "SIG"),
            ("segfault", "SIGSEGV"),
            ("leave", "without"),
            ("exit_politely", "SystemExit"),
            ("recurse", "RecursionError"),
        ],
    )
    def test_as_a_crash_when_the_child_is_lost(self, sandbox, name, word):
        with pytest.raises(ChildCrashed, match=word):
            sandbox.run(task(name), b"")
        assert sandbox.run(task("echo"), b"still here")["read"] == "still here"

    def test_as_a_crash_when_the_answer_cannot_be_told(self, sandbox):
        for value in ("\\ud800", "\\udfff."):
            with pytest.raises(ChildCrashed, match="UnicodeEncodeError"):
                sandbox.run(task("unspeakable"), b"", options={"value": value})

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"A",
            b"A" + (9).to_bytes(8) + b'"cut sho',
            b"A" + (4).to_bytes(8) + b"nope",
            b"A" + (3).to_bytes(8) + b"NaN",
            b"A" + (2).to_bytes(8) + b"\xff\xfe",
            b"A" + (8).to_bytes(8) + b'"\\ud800"',
            b"A" + (200_000).to_bytes(8) + b"[" * 200_000,
            b"?" + (2).to_bytes(8) + b"{}",
            b"R" + (2).to_bytes(8) + b"{}",
            b"F" + (2).to_bytes(8) + b"[]",
            b"F" + (38).to_bytes(8) + b'{"code":"forbidden","message":"Trust"}',
            b"C" + (2).to_bytes(8) + b"{}",
            b"C" + (13).to_bytes(8) + b'"a\\nlog line"',
            b"P" + (2).to_bytes(8) + b"{}",
            b"P" + (6).to_bytes(8) + b"[1,-1]",
            b"P" + (10).to_bytes(8) + b"[true,1e9]",
        ],
    )
    def test_as_a_crash_when_the_answer_is_gibberish(self, sandbox, answer):
        with pytest.raises(ChildCrashed) as failure:
            sandbox.run(task("ramble"), b"", options={"hex": answer.hex()}, progress=lambda *_: None)
        assert "\n" not in failure.value.message

    def test_at_the_start_when_a_task_cannot_be_loaded(self, capfd):
        with pytest.raises(SandboxUnavailable), Sandbox(["nowhere_at_all:task"]):
            pass
        assert "nowhere_at_all" in capfd.readouterr().err


class TestLimitsHold:
    @pytest.mark.parametrize("name", ["spin", "sleep", "sleep_deaf"])
    def test_on_time(self, sandbox, name):
        seen = []
        with pytest.raises(ChildTimedOut, match=r"limit of 0\.8 s\.") as failure:
            sandbox.run(task(name), b"", limits=BRIEF, progress=lambda process, _: seen.append(process))
        assert isinstance(failure.value, OverLimit)
        assert [is_reaped(process) for process in seen] == [True]

    def test_on_processor_time(self, sandbox):
        with pytest.raises(ChildTimedOut, match="1 s of processor time"):
            sandbox.run(task("spin"), b"", limits=replace(LIMITS, cpu_seconds=1, wall_seconds=60))

    @pytest.mark.parametrize("name", ["hoard", "hoard_natively"])
    def test_on_memory(self, sandbox, name):
        with pytest.raises(ChildOutOfMemory, match="200 MiB") as failure:
            sandbox.run(task(name), b"", limits=replace(LIMITS, memory_bytes=200 * MIB))
        assert isinstance(failure.value, OverLimit)

    def test_on_the_length_of_an_answer(self, sandbox):
        with pytest.raises(AnswerTooLong, match="1,000,000 bytes"):
            sandbox.run(
                task("big"),
                b"",
                options={"characters": 500_000},
                limits=replace(LIMITS, answer_bytes=1_000_000),
            )

    def test_on_a_length_that_is_only_claimed(self, sandbox):
        with pytest.raises(AnswerTooLong):
            sandbox.run(task("ramble"), b"", options={"hex": (b"A" + b"\xff" * 8).hex()})

    def test_on_a_flood_of_progress(self, sandbox):
        with pytest.raises(AnswerTooLong):
            sandbox.run(task("flood"), b"", limits=replace(LIMITS, answer_bytes=100_000))

    def test_on_open_files(self, sandbox):
        with pytest.raises(ChildCrashed, match="OSError"):
            sandbox.run(task("open_many"), b"")

    def test_on_a_child_that_has_answered_and_stays(self, sandbox):
        seen = []
        assert (
            sandbox.run(task("answer_and_linger"), b"", progress=lambda process, _: seen.append(process)) == 7
        )
        assert [ends(process) for process in seen] == [True]


class TestCancelling:
    @pytest.mark.parametrize("name", ["spin", "sleep", "sleep_deaf"])
    def test_ends_the_child_within_a_second(self, sandbox, name):
        cancelled = threading.Event()
        asked = []

        def cancel(process, _):
            asked.append((process, time.monotonic()))
            cancelled.set()

        with pytest.raises(Cancelled):
            sandbox.run(task(name), b"", cancelled=cancelled, progress=cancel)
        ((process, asked_at),) = asked
        assert time.monotonic() - asked_at < 1
        assert is_reaped(process)

    def test_beforehand_starts_nothing_that_lasts(self, sandbox):
        cancelled = threading.Event()
        cancelled.set()
        with pytest.raises(Cancelled):
            sandbox.run(task("sleep"), b"", cancelled=cancelled)

    def test_by_an_exception_of_the_caller_ends_the_child(self, sandbox):
        seen = []

        def lose_lease(process, _):
            seen.append(process)
            raise KeyError("lease")

        with pytest.raises(KeyError, match="lease"):
            sandbox.run(task("sleep"), b"", progress=lose_lease)
        assert [is_reaped(process) for process in seen] == [True]


class TestManyAtOnce:
    def test_get_their_own_answers(self, sandbox):
        with ThreadPoolExecutor(8) as pool:
            texts = [f"document {number}" for number in range(80)]
            answers = list(pool.map(lambda text: sandbox.run(task("echo"), text.encode())["read"], texts))
        assert answers == texts

    def test_run_side_by_side(self, sandbox):
        together = threading.Barrier(4, timeout=10)
        with ThreadPoolExecutor(4) as pool:
            runs = [pool.submit(run_until_met, sandbox, together) for _ in range(4)]
        assert [run.result() for run in runs] == ["met"] * 4

    def test_suffer_nothing_from_one_that_dies(self, sandbox):
        def run(number):
            try:
                return sandbox.run(task("abort" if number % 2 else "echo"), b"fine")["read"]
            except ChildCrashed:
                return "crashed"

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(run, range(40))) == ["fine", "crashed"] * 20

    def test_leave_no_descriptor_and_no_zombie(self, sandbox):
        def descriptors():
            return len(list(Path("/proc/self/fd").iterdir())), sandbox.run(task("descriptors"), b"")

        before = descriptors()
        processes = [sandbox.run(task("echo"), b"x")["process"] for _ in range(200)]
        while not all(map(is_reaped, processes)):  # the last ones are being reaped while we look
            sandbox.run(task("nothing"), b"")
        assert descriptors() == before


def run_until_met(sandbox, together):
    met = threading.Event()

    def meet(*_):
        together.wait()
        met.set()

    with pytest.raises(Cancelled):
        sandbox.run(task("sleep"), b"", cancelled=met, progress=meet)
    return "met"


class TestTheServer:
    def test_starts_by_itself_and_again_after_a_close(self):
        sandbox = Sandbox([task("echo")], LIMITS)
        assert sandbox.run(task("echo"), b"one")["read"] == "one"
        first = server_of(sandbox)
        sandbox.close()
        assert is_reaped(first)
        assert sandbox.run(task("echo"), b"two")["read"] == "two"
        sandbox.close()
        sandbox.close()

    def test_is_replaced_when_it_was_killed(self, sandbox):
        for _ in range(3):
            killed = server_of(sandbox)
            os.kill(killed, signal.SIGKILL)
            assert sandbox.run(task("echo"), b"again")["read"] == "again"
            assert is_reaped(killed)

    def test_takes_its_children_along_when_it_is_killed(self, sandbox):
        seen = []

        def kill_server(process, _):
            seen.append(process)
            os.kill(server_of(sandbox), signal.SIGKILL)

        with pytest.raises(ChildCrashed, match="lost"):
            sandbox.run(task("sleep_deaf"), b"", progress=kill_server)
        assert [ends(process) for process in seen] == [True]

    def test_takes_its_children_along_when_it_is_closed(self):
        sandbox = Sandbox(TASKS, LIMITS)
        seen = []

        def close(process, _):
            seen.append(process)
            sandbox.close()

        with pytest.raises(ChildCrashed):
            sandbox.run(task("sleep_deaf"), b"", progress=close)
        assert [ends(process) for process in seen] == [True]

    def test_shrugs_off_the_signals_of_a_shutdown(self, sandbox):
        sandbox.start()
        server = server_of(sandbox)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(server, number)
        assert sandbox.run(task("echo"), b"x")["read"] == "x"
        assert server_of(sandbox) == server

    def test_ends_with_its_children_when_the_service_is_killed(self):
        with service() as (process, descendants):
            process.kill()
            assert [ends(descendant) for descendant in descendants] == [True, True]

    def test_ends_with_its_children_though_a_fork_of_the_service_lives_on(self):
        """Such a fork holds the control socket open, so the server must not rely on that alone."""
        with service(before="os.fork() or signal.pause()") as (process, descendants):
            process.kill()
            assert [ends(descendant) for descendant in descendants] == [True, True]

    def test_leaves_no_child_when_it_is_killed_together_with_the_service(self):
        with service() as (process, descendants):
            os.killpg(process.pid, signal.SIGKILL)
            assert [ends(descendant) for descendant in descendants] == [True, True]


@contextmanager
def service(before="pass"):
    """A process that uses a sandbox, as the leader of its group; with it, its server and a hanging child."""
    body = f"""
        sandbox = Sandbox(["tests.content.extraction.sandbox_tasks:sleep_deaf"])
        sandbox.start()
        {before}
        def tell(process, _):
            print(sandbox._server._process.pid, process, flush=True)
        sandbox.run("tests.content.extraction.sandbox_tasks:sleep_deaf", b"", progress=tell)
    """
    command = [sys.executable, "-c", script(body)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as process:
        try:
            yield process, [int(number) for number in process.stdout.readline().split()]
        finally:
            os.killpg(process.pid, signal.SIGKILL)
