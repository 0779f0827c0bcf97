"""The real command: what it prints, what it keeps, and how it ends."""

import json
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import jwt
import pytest

from assay import __version__, cli
from assay.identity.issuer import KEYS_PATH, TOKEN_PATH
from tests import factories, service
from tests.identity import oidc


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("assay") / "data"


@pytest.fixture(scope="module")
def running(data_dir) -> Iterator[service.Running]:
    """One service for all the tests that do not stop it."""
    with service.running(data_dir) as started:
        yield started


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that went well printed."""
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a command that could not do its work."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr.strip()


def login(url: str, partner: dict[str, str], **changes: str) -> httpx2.Response:
    form = {
        "grant_type": "password",
        "username": partner["username"],
        "password": partner["password"],
        "client_id": partner["clientId"],
        "client_secret": partner["clientSecret"],
        **changes,
    }
    return httpx2.post(url + TOKEN_PATH, data=form, trust_env=False, timeout=30)


def ask(url: str, token: str) -> int:
    return httpx2.get(
        f"{url}/api/v1/info", headers=factories.bearer(token), trust_env=False, timeout=30
    ).status_code


def paste(greeting: str) -> str:
    """What a shell makes of the printed commands."""
    commands = "".join(line for line in greeting.splitlines(keepends=True) if line.startswith("  "))
    done = subprocess.run(["sh", "-c", commands], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.fixture
def command(monkeypatch, capsys):
    """A command in this process: starting one for each would take most of the time of these tests."""

    def command(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr("sys.argv", ["assay", *map(str, arguments)])
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, printed.out, printed.err)

    return command


@pytest.fixture
def add(command, data_dir):
    """The credentials of a new partner."""

    def add(name: str, *options: str) -> dict[str, str]:
        done = command("partners", "add", name, "--json", "--data-dir", data_dir, *options)
        return json.loads(said(done))

    return add


@pytest.mark.skipif(not shutil.which("curl"), reason="what is printed is for curl")
def test_the_first_start_prints_a_sequence_that_works_when_pasted(running):
    greeting = running.output.read_text()
    assert "A partner named demo was made for you" in greeting

    info = json.loads(paste(greeting))
    assert (info["name"], info["version"]) == ("Assay", __version__)


def test_the_data_directory_is_for_its_user_alone(running, data_dir):
    assert data_dir.stat().st_mode & 0o077 == 0


def test_a_service_that_is_told_to_stop_does_and_keeps_everything(tmp_path):
    with service.running(tmp_path / "data") as first:
        url = first.url
        demo = dict(re.findall(r"-d (\w+)=(\S+)", first.output.read_text()))
        published = httpx2.get(url + KEYS_PATH, trust_env=False).json()
        token = httpx2.post(url + TOKEN_PATH, data=demo, trust_env=False).json()["access_token"]
        headers = {**factories.bearer(token), "X-Request-Id": "mine-1"}
        httpx2.get(f"{url}/api/v1/info", headers=headers, trust_env=False)
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(20) == 0
    assert_logged(first.errors.read_text(), token, secrets=[demo["password"], demo["client_secret"]])

    # The port is part of the issuer's name, so the second start takes the same one.
    misspelt = {"ASSAY_GATEWAI": "external", "ASSAY_LIMITS__HEADER_SECONDS": "0.5"}
    with service.running(tmp_path / "data", port=url.rpartition(":")[2], **misspelt) as second:
        assert len(second.output.read_text().splitlines()) == 1
        assert httpx2.get(url + KEYS_PATH, trust_env=False).json() == published
        assert ask(url, token) == 200
        assert raw(second.port, b"GET /livez HTTP/1.1\r\nHost: a\r\n") == b""  # headers that never end
        second.process.send_signal(signal.SIGINT)
        assert second.process.wait(20) == 0
    complaint = second.errors.read_text().splitlines()[0]
    assert complaint == "ASSAY_GATEWAI is not a setting. Did you mean ASSAY_GATEWAY?"


def assert_logged(text: str, token: str, secrets: list[str]) -> None:
    """Every line is JSON; the request `mine-1` is there with its partner; no secret is."""
    lines = [json.loads(line) for line in text.splitlines()]
    (line,) = (line for line in lines if line.get("request_id") == "mine-1")
    assert (line["event"], line["level"]) == ("request", "info")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/info", 200)
    assert line["partner"] == jwt.decode(token, options={"verify_signature": False})["sub"]
    assert line["client"] == "127.0.0.1"
    for secret in (*secrets, *token.split(".")):
        assert secret not in text


def raw(port: int, *chunks: bytes) -> bytes:
    """What comes back, to the end of the connection, for these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(OSError):  # it may have heard enough
            for chunk in chunks:
                connection.sendall(chunk)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


def test_a_port_in_use_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = service.run("serve", "--port", str(port), "--data-dir", tmp_path / "data")
    assert refused(done) == f"Cannot listen on 127.0.0.1:{port}: address already in use."
    assert not (tmp_path / "data").exists()


def test_a_data_directory_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    done = service.run("serve", "--port", "0", "--data-dir", tmp_path / "file" / "data")
    assert refused(done) == f"The data directory {tmp_path}/file/data cannot be written: not a directory."


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("ASSAY_PORT", "high", "ASSAY_PORT is wrong: "),
        ("ASSAY_GATEWAY", "none", "ASSAY_GATEWAY is wrong: "),
        ("ASSAY_LIMITS__JSON_BYTES", "0", "ASSAY_LIMITS__JSON_BYTES is wrong: "),
        ("ASSAY_LIMITS__JSON_BITES", "1", "ASSAY_LIMITS__JSON_BITES is not a setting. Did you mean"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(command, tmp_path, variable, value, sentence):
    done = command("serve", "--data-dir", tmp_path / "data", **{variable: value})
    assert refused(done).startswith(sentence)


def test_a_database_that_is_away_is_one_sentence(tmp_path):
    url = "postgresql://assay:hunter2@127.0.0.1:1/assay"
    done = service.run("serve", "--port", "0", "--data-dir", tmp_path / "data", ASSAY_DATABASE__URL=url)
    assert refused(done) == "The database is away or full; try again shortly."


def test_the_version_is_printed():
    assert said(service.run("--version")) == f"assay {__version__}\n"


def test_a_partner_added_while_the_service_runs_can_log_in(running, data_dir):
    options = ("--json", "--scopes", "content,feedback", "--data-dir", data_dir)
    made = json.loads(said(service.run("partners", "add", "acme", *options)))

    assert set(made) == {"subject", "username", "password", "clientId", "clientSecret"}
    body = login(running.url, made).json()
    assert set(body["scope"].split()) == {"content", "feedback", "info"}
    assert ask(running.url, body["access_token"]) == 200


def test_a_partner_may_be_given_its_credentials(running, add):
    made = add("Initech GmbH", "--username", "peter", "--password", "a b&c=d%")
    assert (made["username"], made["password"]) == ("peter", "a b&c=d%")
    assert login(running.url, made).status_code == 200


def test_credentials_are_printed_for_people_too(data_dir, running, command):
    text = said(command("partners", "add", "umbrella", "--data-dir", data_dir))
    printed = dict(line.split(None, 1) for line in text.splitlines()[1:])
    assert set(printed) == {"subject", "username", "password", "clientId", "clientSecret"}
    assert login(running.url, printed).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["demo"], "A partner with this name or user name exists already."),
        ([" demo"], "A name is 1 to 100 characters, with no space at its ends."),
        (["new", "--scopes", "contents"], "'contents' is not a scope; the scopes are "),
    ],
)
def test_a_partner_that_cannot_be_added_is_one_sentence(running, data_dir, command, arguments, sentence):
    done = command("partners", "add", "--data-dir", data_dir, *arguments)
    assert refused(done).startswith(sentence)


def test_partners_are_disabled_and_enabled_and_listed_while_the_service_runs(running, data_dir, command, add):
    made = add("globex")
    token = login(running.url, made).json()["access_token"]
    assert ask(running.url, token) == 200

    assert said(command("partners", "disable", "globex", "--data-dir", data_dir)) == "Disabled globex.\n"
    assert ask(running.url, token) == 401
    listed = json.loads(said(command("partners", "list", "--json", "--data-dir", data_dir)))
    (row,) = (each for each in listed if each["name"] == "globex")
    assert (row["state"], row["subject"], row["clientId"]) == ("disabled", made["subject"], made["clientId"])
    assert not set(row) & {"password", "clientSecret"}

    assert said(command("partners", "enable", made["subject"], "--data-dir", data_dir))
    assert ask(running.url, token) == 200
    table = said(command("partners", "list", "--data-dir", data_dir))
    assert "globex" in table
    assert "active" in table


def test_a_rotated_secret_replaces_the_old_one_while_the_service_runs(running, data_dir, command, add):
    made = add("hooli")
    new = json.loads(said(command("partners", "rotate-secret", "hooli", "--json", "--data-dir", data_dir)))

    assert new["clientId"] == made["clientId"]
    assert login(running.url, made).json()["error"] == "unauthorized_client"
    assert login(running.url, made, client_secret=new["clientSecret"]).status_code == 200


def test_an_unknown_partner_is_one_sentence(running, data_dir, command):
    done = command("partners", "disable", "nobody", "--data-dir", data_dir)
    assert refused(done) == "No partner has this name or subject."


def test_keys_rotate_while_the_service_runs(running, data_dir, command, add):
    made = add("vehement")
    token = login(running.url, made).json()["access_token"]
    text = said(command("keys", "rotate", "--data-dir", data_dir))
    kid = text.removeprefix("New signing key ").removesuffix(".\n")

    assert kid in [key["kid"] for key in httpx2.get(running.url + KEYS_PATH, trust_env=False).json()["keys"]]
    assert ask(running.url, token) == 200
    assert ask(running.url, login(running.url, made).json()["access_token"]) == 200


def test_migrate_makes_a_database_where_there_is_none(tmp_path, command):
    for _ in range(2):
        done = command("migrate", "--data-dir", tmp_path / "data")
        assert said(done) == "The database is up to date.\n"
    assert json.loads(said(command("partners", "list", "--json", "--data-dir", tmp_path / "data"))) == []


def test_with_an_external_provider_partners_and_keys_are_kept_there(tmp_path, command):
    data_dir = tmp_path / "data"
    with oidc.running() as provider:
        setting = {"ASSAY_IDENTITY__ISSUER": provider.issuer, "ASSAY_IDENTITY__CLIENTS": "portal"}
        subject = "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"
        token = provider.token(subject, azp="portal")
        with service.running(data_dir, **setting) as started:
            assert "demo" not in started.output.read_text()
            assert ask(started.url, provider.token(subject, azp="other")) == 401
            assert ask(started.url, token) == 200
            assert said(command("partners", "disable", subject, "--data-dir", data_dir, **setting))
            assert ask(started.url, token) == 401

    add = command("partners", "add", "acme", "--data-dir", data_dir, **setting)
    assert (
        refused(add) == "Partners come from the external identity provider: each exists from its first token."
    )
    rotate = command("keys", "rotate", "--data-dir", data_dir, **setting)
    assert refused(rotate) == "The keys are the external identity provider's; rotate them there."


@pytest.mark.parametrize(
    "chunks",
    [
        [b"nonsense\r\n\r\n"],
        [b"GET /livez HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n"],
        [b"GET /livez HTTP/1.1\r\nHost: a\r\n", *[b"X-Extra: " + b"x" * 60_000] * 3],
    ],
    ids=["no http", "no header", "endless header"],
)
def test_what_cannot_be_parsed_is_answered_in_the_shape_of_every_error(running, chunks):
    head, _, body = raw(running.port, *chunks).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert json.loads(body)["code"] == "invalid_request"
