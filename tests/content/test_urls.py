"""Web pages and documents by their address, from a real server on loopback that the operator has opened."""

import socket

import pytest
from sqlalchemy import select

from assay.jobs.table import jobs
from tests import factories
from tests.content.test_fetching import redirect, response, serving
from tests.content.test_lifecycle import JOBS, stored_files
from tests.jobs.doing import make_due

PAGE = b"<!doctype html><title>Terms</title><h1>Terms</h1><p>Be kind.</p><p>Be honest.</p>"
FORBIDDEN = "The URL leads to an address that is not open to this service."


@pytest.fixture
def site():
    with serving() as site:
        yield site


@pytest.fixture
def client(make_client, partner, site):
    """A client of a service to which the site, and nothing else that is private, is open."""
    return factories.signed_in(make_client(fetch={"allow": f"127.0.0.1:{site.port}"}), partner)


@pytest.fixture
def submit(client):
    def submit(url):
        answer = client.post(f"{JOBS}/url", json={"url": url})
        assert answer.status_code == 202, answer.text
        return answer.json()["uuid"]

    return submit


@pytest.fixture
def read(client, submit, work, site):
    """Put a page on the site, submit it and do the work; the job's uuid and its record."""

    def read(page, path="/terms"):
        site.pages[path] = page
        job = submit(site.url(path))
        assert work() == 1
        return job, record(client, job)

    return read


def record(client, job):
    return client.get(f"{JOBS}/{job}/status").json()


def text(client, job):
    return client.get(f"{JOBS}/{job}/content").text


# What comes out


def test_a_submitted_url_is_accepted_with_its_record_and_where_to_poll(client, site):
    answer = client.post(f"{JOBS}/url", json={"url": site.url("/terms")})

    job = answer.json()
    assert answer.status_code == 202
    assert (job["sourceType"], job["sourceUrl"], job["status"]) == ("URL", site.url("/terms"), "PENDING")
    assert (job["fileName"], job["fetchedAt"]) == (None, None)
    assert answer.headers["location"] == f"{JOBS}/{job['uuid']}/status"
    assert site.requests == []  # nothing is fetched while the caller waits


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (response(PAGE, Content_Type="text/html"), ["Terms", "Be kind.", "Be honest."]),
        (response(b"Be kind.\n\nBe honest.", Content_Type="text/plain"), ["Be kind.", "Be honest."]),
        (response(factories.pdf("Be kind."), Content_Type="application/pdf"), ["Be kind."]),
        (response(factories.docx("Be kind."), Content_Type="application/octet-stream"), ["Be kind."]),
        (response(factories.pdf("Be kind."), Content_Type="text/html"), ["Be kind."]),
        (response("Übersicht".encode("latin-1"), Content_Type="text/plain; charset=latin1"), ["Übersicht"]),
    ],
    ids=["page", "text", "pdf", "docx", "mislabelled", "latin1"],
)
def test_what_an_address_holds_becomes_text_by_its_bytes(client, read, page, expected):
    job, done = read(page)

    assert (done["status"], done["error"]) == ("COMPLETED", None)
    assert done["fetchedAt"] is not None
    assert text(client, job) == "\n\n".join(expected)


@pytest.mark.parametrize(
    ("path", "page", "name"),
    [
        ("/files/dpa%20v2.pdf", response(factories.pdf("x")), "dpa v2.pdf"),
        (
            "/download?id=7",
            response(factories.pdf("x"), Content_Disposition='attachment; filename="../a.pdf"'),
            "a.pdf",
        ),
        ("/files/", response(factories.pdf("x")), None),
        ("/terms.html", response(PAGE), None),
    ],
    ids=["by its address", "by its header", "nameless", "a page has none"],
)
def test_a_document_has_the_name_that_its_server_gives_it(read, path, page, name):
    assert read(page, path)[1]["fileName"] == name


def test_the_source_url_stays_as_it_was_given_when_it_redirects(client, read, site):
    site.pages["/moved"] = response(PAGE)
    _, done = read(redirect("/moved"), "/old")

    assert (done["sourceUrl"], done["status"]) == (site.url("/old"), "COMPLETED")


def test_a_page_that_only_scripts_would_fill_fails_with_advice(read):
    _, done = read(
        response(b"<!doctype html><div id=app></div><script>fill()</script>", Content_Type="text/html")
    )

    assert done["status"] == "FAILED"
    assert "scripts" in done["error"]


def test_a_page_with_little_beside_its_scripts_is_read_with_a_warning(client, read):
    job, _ = read(
        response(b"<!doctype html><p>Please wait.</p><script>fill()</script>", Content_Type="text/html")
    )

    warnings = client.get(f"{JOBS}/{job}/content?format=json").json()["warnings"]
    assert [warning["code"] for warning in warnings] == ["script_shell"]


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(100), factories.archive({"a.txt": "x"}), b""])
def test_what_is_no_document_fails_with_a_sentence_and_is_not_kept(read, body, tmp_path):
    _, done = read(response(body, Content_Type="application/pdf"))

    assert (done["status"], done["error"][-1]) == ("FAILED", ".")
    assert stored_files(tmp_path) == []


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone", "401 Unauthorized"])
def test_an_address_without_a_document_fails_at_once_and_says_what_it_answered(read, status):
    _, done = read(response(status=status))

    assert (done["status"], done["error"]) == ("FAILED", f"The address answered {status}.")
    assert done["fetchedAt"] is None


# What may not be fetched


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/a",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//example.com/a",
        "",
        "https://",
        "http://user:secret@example.com/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://localhost/",
        "http://LOCALHOST./",
        "HTTP://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://192.0.0.192/",
        "http://example.com:0/",
        "http://example.com/\r\nX: y",
        f"http://example.com/{'a' * 2_048}",
    ],
)
def test_what_can_never_be_fetched_is_refused_at_once(client, work, url):
    answer = client.post(f"{JOBS}/url", json={"url": url})

    assert answer.status_code == 400
    assert answer.json()["message"].endswith(".")
    assert [detail["field"] for detail in answer.json()["details"]] == ["url"]
    assert work() == 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "url"),
        ({"url": 7}, "url"),
        ({"url": None}, "url"),
        ({"url": "https://example.com/", "uri": "x"}, "Did you mean 'url'?"),
        ([], ""),
    ],
)
def test_a_body_without_a_url_is_refused(client, body, says):
    answer = client.post(f"{JOBS}/url", json=body)

    assert answer.status_code == 400
    assert says in answer.json()["message"]


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_a_redirect_to_a_private_address_says_nothing_of_who_listens_there(client, read):
    with serving() as inside:
        inside.pages["/"] = response(b"internal")
        answers = [
            read(redirect(f"http://127.0.0.1:{port}/"), f"/to/{number}")[1]
            for number, port in enumerate((inside.port, closed_port()))
        ]

        assert [answer["status"] for answer in answers] == ["FAILED", "FAILED"]
        assert [answer["error"] for answer in answers] == [FORBIDDEN] * 2
        assert inside.requests == []


def test_a_name_that_leads_to_a_private_address_says_nothing_of_who_listens_there(
    client, submit, work, monkeypatch
):
    def resolve(_host, port, **_options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with serving() as inside:
        inside.pages["/"] = response(b"internal")
        found = [submit(f"http://intranet.example:{port}/") for port in (inside.port, closed_port())]
        assert work() == 2

        answers = [record(client, job) for job in found]
        assert [(answer["status"], answer["error"]) for answer in answers] == [("FAILED", FORBIDDEN)] * 2
        assert inside.requests == []


# Trying again


def test_a_server_in_trouble_is_asked_again_with_growing_pauses_and_three_times_in_all(
    client, submit, work, site, database
):
    site.pages["/terms"] = response(status="503 Service Unavailable")
    job = submit(site.url("/terms"))
    pauses = []
    for _ in range(2):
        assert work() == 1
        assert record(client, job)["status"] != "FAILED"
        with database.read() as tx:
            row = tx.execute(select(jobs)).one()
        pauses.append(row.due_at - row.created_at)
        make_due(database)
    assert work() == 1

    done = record(client, job)
    assert (done["status"], done["error"]) == ("FAILED", "The address answered 503 Service Unavailable.")
    assert len(site.requests) == 3
    assert pauses[0] < pauses[1]
    assert work() == 0


def test_a_server_that_recovers_in_time_is_read(client, submit, work, site, database):
    site.pages["/terms"] = response(status="503 Service Unavailable")
    job = submit(site.url("/terms"))
    work()
    site.pages["/terms"] = response(PAGE)
    make_due(database)
    work()

    assert record(client, job)["status"] == "COMPLETED"


def test_a_closed_port_of_an_opened_host_is_tried_three_times(make_client, partner, database):
    port = closed_port()
    client = factories.signed_in(make_client(fetch={"allow": f"127.0.0.1:{port}"}), partner)
    job = client.post(f"{JOBS}/url", json={"url": f"http://127.0.0.1:{port}/"}).json()["uuid"]
    attempts = 0
    while client.app.state.worker.perform():
        attempts += 1
        make_due(database)

    assert attempts == 3
    assert record(client, job)["error"] == "No connection to the address could be made."


# Refresh


@pytest.fixture
def known(client, read):
    """A job that was read once, from a page with an ETag."""
    return read(response(PAGE, ETag='"v1"', Last_Modified="Sat, 31 Jan 2026 09:30:00 GMT"))[0]


def refresh(client, work, job):
    assert client.post(f"{JOBS}/{job}/refresh").status_code == 202
    assert work() == 1
    return record(client, job)


def test_a_refresh_asks_whether_the_page_has_changed(client, work, site, known):
    before = record(client, known)
    site.pages["/terms"] = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'

    after = refresh(client, work, known)

    assert 'If-None-Match: "v1"\r\n' in site.requests[-1]
    assert "If-Modified-Since: Sat, 31 Jan 2026 09:30:00 GMT\r\n" in site.requests[-1]
    assert after["status"] == "COMPLETED"
    assert after["fetchedAt"] > before["fetchedAt"]
    assert text(client, known) == "Terms\n\nBe kind.\n\nBe honest."


def test_a_page_that_has_changed_replaces_the_text_and_the_bytes(client, work, site, known, tmp_path):
    digest = client.get(f"{JOBS}/{known}/content?format=json").json()["digest"]
    site.pages["/terms"] = response(b"<!doctype html><p>Be bold.", ETag='"v2"')

    after = refresh(client, work, known)

    assert after["status"] == "COMPLETED"
    assert text(client, known) == "Be bold."
    assert client.get(f"{JOBS}/{known}/content", params={"digest": digest}).status_code == 404
    assert len(stored_files(tmp_path)) == 1
    refresh(client, work, known)
    assert 'If-None-Match: "v2"\r\n' in site.requests[-1]


def test_a_failed_refresh_keeps_the_last_good_text_readable(client, work, site, known):
    site.pages["/terms"] = response(status="404 Not Found")

    after = refresh(client, work, known)

    assert (after["status"], after["error"]) == ("FAILED", "The address answered 404 Not Found.")
    assert text(client, known) == "Terms\n\nBe kind.\n\nBe honest."
    site.pages["/terms"] = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    again = refresh(client, work, known)
    assert (again["status"], again["error"]) == ("COMPLETED", None)


def test_a_first_run_that_failed_is_asked_anew_without_conditions(client, work, site, read):
    job, failed = read(response(b"\x00", ETag='"v1"'))
    assert failed["status"] == "FAILED"
    site.pages["/terms"] = response(PAGE, ETag='"v1"')

    assert refresh(client, work, job)["status"] == "COMPLETED"
    assert "If-None-Match" not in site.requests[-1]


def test_a_page_without_validators_is_fetched_whole_each_time(client, work, site, read):
    job, _ = read(response(PAGE))

    refresh(client, work, job)

    assert "If-" not in site.requests[-1]
    assert text(client, job) == "Terms\n\nBe kind.\n\nBe honest."
