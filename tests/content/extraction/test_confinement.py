"""What a parser may not do, tried by parsers that do it."""

import os
import signal
import struct
import sys
from pathlib import Path

import pytest

from assay.content.extraction.sandbox import Profile, Sandbox
from assay.content.extraction.sandbox.confinement import seccomp, syscalls
from assay.content.extraction.sandbox.outcomes import ChildCrashed, ChildTimedOut
from tests.content.extraction import sandbox_tasks
from tests.content.extraction.sandbox_probe import BRIEF, LIMITS, TASKS, ends, run_script, server_of, task

SYSTEM = ("/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the measures are those of Linux")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(TASKS, LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def recogniser():
    """The profile under which a text recogniser may be started as a program."""
    with Sandbox(TASKS, LIMITS, Profile(processes=16, readable=SYSTEM)) as sandbox:
        yield sandbox


def needs(sandbox, measure):
    if sandbox.confinement()[measure] != "holds":
        pytest.skip(f"{measure} is {sandbox.confinement()[measure]} here")


FORBIDDEN = list(sandbox_tasks._ATTEMPTS)


class TestConfinement:
    def test_is_reported_measure_by_measure(self, sandbox):
        assert set(sandbox.confinement()) == {
            "networkNamespace",
            "unprivilegedUser",
            "userNamespace",
            "capabilities",
            "resourceLimits",
            "noNewPrivileges",
            "landlock",
            "seccomp",
        }
        assert sandbox.confinement()["resourceLimits"] == "holds"

    @pytest.mark.parametrize("what", FORBIDDEN)
    def test_denies_a_parser(self, sandbox, what):
        needs(sandbox, "seccomp")
        assert sandbox.run(task("attempt"), b"document", options={"what": what}) != "allowed"

    def test_leaves_the_callers_file_alone_though_it_was_open_for_writing(self, sandbox, tmp_path):
        path = tmp_path / "document"
        path.write_bytes(b"Be kind.")
        with path.open("r+b") as file:
            for what in ("write to the document", "truncate the document"):
                sandbox.run(task("attempt"), file, options={"what": what})
        assert path.read_bytes() == b"Be kind."

    def test_hides_the_services_environment(self, monkeypatch):
        monkeypatch.setenv("ASSAY_SECRET", "swordfish")
        monkeypatch.setenv("DATABASE_URL", "postgres://u:swordfish@h/d")
        with Sandbox([task("environment")]) as sandbox:
            seen = sandbox.run(task("environment"), b"")
            started_with = Path(f"/proc/{server_of(sandbox)}/cmdline").read_bytes()
        assert "swordfish" not in str(seen) + str(started_with)
        assert "PYTHONPATH" not in seen

    def test_hands_over_no_descriptor_but_the_document_and_the_channel(self):
        reader, writer = os.pipe()
        os.set_inheritable(writer, True)  # noqa: FBT003 - the standard library's signature
        with Sandbox([task("descriptors")]) as sandbox:
            inherited = sandbox.run(task("descriptors"), b"")
        os.close(reader)
        os.close(writer)
        assert len([number for number in inherited if number > 2]) == 2

    def test_makes_the_child_nobody_in_particular(self, sandbox):
        needs(sandbox, "userNamespace")
        assert sandbox.run(task("identity"), b"") == {"user": 65_534, "capabilities": 0}

    def test_goes_on_where_the_kernel_refuses_a_measure(self):
        report, tcp = run_script("""
            from assay.content.extraction.sandbox.confinement import kernel, seccomp, syscalls
            refusing = seccomp._Rules(platform.machine())
            refusing.answer(syscalls.KERNEL_SURFACE["unshare"], seccomp._DENY)
            refusing.answer((444, 444), seccomp._ABSENT)
            kernel.forbid_new_privileges()
            kernel.install_filter(refusing.program())
            with Sandbox(["tests.content.extraction.sandbox_tasks:attempt"]) as sandbox:
                print(dict(sandbox.confinement()))
                print(sandbox.run("tests.content.extraction.sandbox_tasks:attempt", b"", options={"what": "tcp"}))
        """).splitlines()
        assert "'networkNamespace': 'refused: Operation not permitted'" in report
        assert "'landlock': 'refused: Function not implemented'" in report
        assert "'seccomp': 'holds'" in report
        assert tcp == "PermissionError"


class TestPrograms:
    def test_run_where_the_profile_allows_them(self, recogniser):
        assert recogniser.run(task("run_program"), b"Be kind.") == "Be kind."

    @pytest.mark.parametrize("what", ["tcp", "udp", "unix", "new session", "new group", "outlive the server"])
    def test_have_no_network_and_no_way_out(self, recogniser, what):
        needs(recogniser, "seccomp")
        assert recogniser.run(task("attempt"), b"", options={"what": what}) == "PermissionError"

    @pytest.mark.parametrize("what", ["read", "write", "make a folder"])
    def test_see_only_the_files_of_the_profile(self, recogniser, what):
        needs(recogniser, "landlock")
        assert recogniser.run(task("attempt"), b"", options={"what": what}) == "PermissionError"

    def test_end_with_the_run(self, recogniser):
        seen = []
        with pytest.raises(ChildTimedOut):
            recogniser.run(
                task("start_program"), b"", limits=BRIEF, progress=lambda program, _: seen.append(program)
            )
        assert [ends(program) for program in seen] == [True]

    def test_end_when_the_child_leaves_them_behind(self, recogniser):
        seen = []
        with pytest.raises(ChildCrashed):
            recogniser.run(task("abandon_program"), b"", progress=lambda program, _: seen.append(program))
        assert [ends(program) for program in seen] == [True]

    def test_end_with_the_server(self):
        seen = []
        with Sandbox(TASKS, LIMITS, Profile(processes=16, readable=SYSTEM)) as sandbox:

            def kill_server(program, _):
                seen.append(program)
                os.kill(server_of(sandbox), signal.SIGKILL)

            with pytest.raises(ChildCrashed):
                sandbox.run(task("start_program"), b"", progress=kill_server)
        assert [ends(program) for program in seen] == [True]

    def test_are_bounded_in_number(self, recogniser):
        needs(recogniser, "userNamespace")
        started = recogniser.run(task("fork_bomb"), b"")
        assert 0 < len(started) < 16
        assert all(ends(process) for process in started)


class TestTheFilter:
    """Its programs, for machines that are not this one, run by a small model of the kernel's."""

    @pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
    def test_denies_every_call_that_it_names(self, machine):
        program = seccomp.server_filter(machine, may_execute=False)
        groups = (
            syscalls.NETWORK,
            syscalls.OTHER_PROCESSES,
            syscalls.KERNEL_SURFACE,
            syscalls.EXECUTION,
            syscalls.FILES,
        )
        numbers = {number[syscalls.COLUMNS[machine]] for group in groups for number in group.values()} - {
            None
        }
        assert {verdict(program, machine, number) for number in numbers} == {"EPERM"}

    @pytest.mark.parametrize(
        ("machine", "harmless"),
        [
            ("x86_64", {"read": 0, "write": 1, "mmap": 9, "futex": 202}),
            ("aarch64", {"read": 63, "write": 64}),
        ],
    )
    def test_allows_the_daily_work(self, machine, harmless):
        for program in (
            seccomp.server_filter(machine, may_execute=False),
            seccomp.child_filter(machine, may_execute=False),
        ):
            assert {verdict(program, machine, number) for number in harmless.values()} == {"allow"}

    @pytest.mark.parametrize(("machine", "clone", "prlimit"), [("x86_64", 56, 302), ("aarch64", 220, 261)])
    def test_looks_at_arguments(self, machine, clone, prlimit):
        server = seccomp.server_filter(machine, may_execute=True)
        child = seccomp.child_filter(machine, may_execute=True)
        assert verdict(server, machine, clone, signal.SIGCHLD) == "allow"
        assert verdict(server, machine, clone, 0x10000000 | signal.SIGCHLD) == "EPERM"
        assert verdict(server, machine, 435) == "ENOSYS"
        assert verdict(child, machine, prlimit, 0, 7, 0) == "allow"
        assert verdict(child, machine, prlimit, 0, 7, 1 << 40) == "EPERM"
        assert verdict(child, machine, prlimit, 0, 7, 8) == "EPERM"

    @pytest.mark.parametrize(("machine", "prctl"), [("x86_64", 157), ("aarch64", 167)])
    def test_lets_a_program_ask_to_die_with_its_parent_and_never_take_it_back(self, machine, prctl):
        child = seccomp.child_filter(machine, may_execute=True)
        assert verdict(child, machine, prctl, 1, signal.SIGKILL) == "allow"
        assert verdict(child, machine, prctl, 1, 0) == "EPERM"
        assert verdict(child, machine, prctl, 38, 1) == "allow"
        assert verdict(seccomp.child_filter(machine, may_execute=False), machine, prctl, 1, 9) == "EPERM"

    def test_takes_no_call_of_a_foreign_kind(self):
        program = seccomp.child_filter("x86_64", may_execute=True)
        assert verdict(program, "aarch64", 0) == "EPERM"
        assert verdict(program, "x86_64", 0x40000000) == "EPERM"

    def test_is_refused_for_a_machine_that_it_does_not_know(self):
        with pytest.raises(OSError, match="pdp11"):
            seccomp.server_filter("pdp11", may_execute=False)


def verdict(program, machine, number, *arguments):
    architecture = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("<HBBI", program))
    at, word = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x06:
            return {0x7FFF0000: "allow", 0x50001: "EPERM", 0x50026: "ENOSYS"}[value]
        if code == 0x20:
            (word,) = struct.unpack_from("<I", data, value)
        else:
            holds = {0x15: word == value, 0x35: word >= value, 0x45: bool(word & value)}[code]
            at += if_true if holds else if_false
