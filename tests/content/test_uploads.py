"""Uploads: what is refused, as early as its bytes tell, and that a refusal leaves nothing behind."""

import socket

import pytest

from tests import factories, processes
from tests.asgi import Call
from tests.content.forms import BOUNDARY, FORM, form, part
from tests.content.test_lifecycle import JOBS, stored_files

FILE = f"{JOBS}/file"
PDF = factories.pdf("Be kind.")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SPREADSHEET = factories.archive(
    {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Override PartName="/xl/workbook.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
        ),
        "xl/workbook.xml": "<workbook/>",
    }
)
# More than the service collects before it writes: there is a file when a test looks for it.
LONG = b"%PDF-1.7\n" + bytes(600_000)


@pytest.fixture
def refusal(client, tmp_path, work):
    """Post a body that must be refused, and see that nothing of it stays; the answer."""

    def post(body, headers=FORM):
        answer = client.post(FILE, content=body, headers=headers)
        assert stored_files(tmp_path) == []
        assert work() == 0
        return answer

    return post


@pytest.mark.parametrize(
    "data",
    [
        b"<!doctype html><p>Terms",
        b"Plain text",
        b"\x89PNG\r\n\x1a\n" + bytes(5000),
        bytes(2000) + PDF,
        SPREADSHEET,
        factories.archive({"readme.txt": "Be kind."}),
        OLE + bytes(4000),
        b"PK",
    ],
    ids=["html", "text", "picture", "late", "spreadsheet", "zip", "old", "short"],
)
def test_only_pdf_and_docx_are_accepted_whatever_their_name(refusal, data):
    answer = refusal(form(part(data, file_name=b"terms.pdf")))

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_document")
    assert "PDF and DOCX" in answer.json()["message"]


def test_what_is_no_document_is_refused_before_the_rest_has_come(client, tmp_path):
    call = Call(client, "POST", FILE, {**FORM, "Content-Length": str(30_000_000)})

    call.send(part(b"GIF89a" + bytes(300_000)))  # and 29 MB are still to come

    assert call.answer()[0] == 415
    assert stored_files(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (form(part(b"")), "empty"),
        (form(), "missing"),
        (b"", "closing boundary"),
        (form(part(PDF, name=b"fiel")), "Unknown part 'fiel'. Did you mean 'file'?"),
        (form(part(PDF), part(b"x", name=b"note", file_name=None)), "Unknown part 'note'"),
        (form(part(PDF), part(PDF)), "more than one part"),
        (form(*[part(b"%PDF-", file_name=None)] * 10_000), "more than one part"),
        (form(*[part(b"x", name=b"p%d" % n) for n in range(10_000)]), "Unknown part 'p0'"),
        (part(PDF), "closing boundary"),
        (part(PDF)[:-20], "closing boundary"),
        (b"this is no form", "multipart"),
        (form(part(PDF, boundary="other"), boundary="other"), "multipart"),
        (f"--{BOUNDARY}\r\nContent-Type: application/pdf\r\n\r\n".encode() + PDF, "no name"),
        (f"--{BOUNDARY}\r\n".encode() + b"X: y\r\n" * 100 + b"\r\n", "multipart"),
    ],
    ids=[
        *("empty", "no part", "no body", "mistyped", "unknown", "two", "ten thousand", "ten thousand others"),
        *("unclosed", "truncated", "no form", "other boundary", "nameless", "many headers"),
    ],
)
def test_a_form_that_is_not_one_file_is_refused_with_a_sentence(refusal, body, says):
    answer = refusal(body)

    assert answer.status_code == 400
    assert says in answer.json()["message"]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=", 400),
        (f"multipart/form-data; boundary={'b' * 71}", 400),
        ("application/pdf", 415),
        ("multipart/mixed; boundary=the-limit", 415),
        ("", 415),
    ],
)
def test_a_body_must_be_a_form_with_a_boundary(refusal, content_type, status):
    answer = refusal(form(part(PDF)), {"Content-Type": content_type})

    assert answer.status_code == status
    assert answer.json()["message"].endswith(".")


@pytest.fixture
def small(make_client, partner):
    """A client of a service that takes files of a mebibyte."""
    return factories.signed_in(make_client(limits={"file_bytes": 2**20}), partner)


def test_a_file_of_the_largest_size_is_accepted_and_one_byte_more_is_not(small, tmp_path):
    largest = PDF + bytes(2**20 - len(PDF))

    assert small.post(FILE, files={"file": ("a.pdf", largest + b"\0")}).status_code == 413
    assert stored_files(tmp_path) == []
    assert small.post(FILE, files={"file": ("a.pdf", largest)}).status_code == 202


def test_a_request_that_declares_too_much_is_refused_before_it_is_read(small):
    call = Call(small, "POST", FILE, {**FORM, "Content-Length": str(2**21)})

    status, body = call.answer()

    assert (status, body["code"]) == (413, "too_large")
    assert "1,048,576" in body["message"]


def test_a_request_that_does_not_say_how_long_it_is_ends_at_the_limit(small, tmp_path):
    call = Call(small, "POST", FILE, {**FORM, "Transfer-Encoding": "chunked"})
    call.send(part(LONG))
    assert len(stored_files(tmp_path)) == 1

    call.send(bytes(600_000))

    status, body = call.answer()
    assert status == 413
    assert "1,048,576" in body["message"]
    assert stored_files(tmp_path) == []


def test_an_upload_that_breaks_off_leaves_nothing(client, tmp_path, work):
    call = Call(client, "POST", FILE, FORM)
    call.send(part(LONG))
    assert len(stored_files(tmp_path)) == 1

    call.break_off()

    assert call.answer()[0] == 400
    assert stored_files(tmp_path) == []
    assert work() == 0


def test_an_upload_that_stalls_is_given_up(make_client, partner, tmp_path):
    client = factories.signed_in(make_client(limits={"upload_idle_seconds": 0.2}), partner)
    call = Call(client, "POST", FILE, FORM)
    call.send(part(LONG))

    status, body = call.answer()  # although nothing else was sent

    assert status == 400
    assert "given up" in body["message"]
    assert stored_files(tmp_path) == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (b"../../etc/passwd.pdf", "passwd.pdf"),
        (rb"C:\\Users\\anna\\DPA.pdf", "DPA.pdf"),
        (b"/abs/olute.pdf", "olute.pdf"),
        (b"terms\x00.pdf", "terms.pdf"),
        (b"a\x01b\x7fc.pdf", "abc.pdf"),
        (b"...", None),
        (b"..", None),
        (b"", None),
        (b"folder/", None),
        ("Verträge – Übersicht 契約.pdf".encode(), "Verträge – Übersicht 契約.pdf"),
        ("fdp.exe\u202e".encode(), "fdp.exe"),
        (b"\xff\xfe.pdf", "\ufffd\ufffd.pdf"),
        (rb"a \"quoted\" name.pdf", 'a "quoted" name.pdf'),
        (b"a;b=c.pdf", "a;b=c.pdf"),
        (b"x" * 64_000 + b".pdf", "x" * 251 + ".pdf"),
        (None, None),
    ],
)
def test_a_file_name_is_shown_without_what_could_do_harm(client, given, shown):
    answer = client.post(FILE, content=form(part(PDF, file_name=given)), headers=FORM)

    assert answer.status_code == 202
    assert answer.json()["fileName"] == shown


@pytest.mark.parametrize("given", [b'a.pdf"\r\nX-Evil: 1; x="', b"a.pdf\r\n\r\n%PDF-1.4", b"a\nb.pdf"])
def test_a_line_end_in_a_file_name_reaches_no_header_and_no_record(client, given):
    answer = client.post(FILE, content=form(part(PDF, file_name=given)), headers=FORM)

    assert answer.status_code in {202, 400, 415}
    assert "x-evil" not in answer.headers
    name = answer.json().get("fileName") or ""
    assert name.isprintable()


def test_a_full_disk_acknowledges_nothing_and_says_when_to_try_again(tmp_path):
    folder = tmp_path / "data"
    credentials = processes.prepared(folder)

    with (
        processes.serving(folder, max_file_bytes=6 * 2**20) as service,
        service.signed_in(credentials) as client,
    ):
        refused = client.post(FILE, files={"file": ("large.pdf", PDF + bytes(8 * 2**20))})

        assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
        assert int(refused.headers["retry-after"]) > 0
        assert stored_files(tmp_path) == []
        assert client.post(FILE, files={"file": ("small.pdf", PDF)}).status_code == 202


def test_a_client_that_goes_away_in_the_middle_leaves_nothing(tmp_path):
    folder = tmp_path / "data"
    credentials = processes.prepared(folder)

    with processes.serving(folder) as service, service.signed_in(credentials) as client:
        head = (
            f"POST {FILE} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n"
            f"Authorization: {client.headers['authorization']}\r\n"
            f"Content-Type: {FORM['Content-Type']}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(head.encode() + part(LONG))
            processes.until(lambda: len(stored_files(tmp_path)) == 1)
        processes.until(lambda: stored_files(tmp_path) == [])

        assert client.get("/readyz").status_code == 200
