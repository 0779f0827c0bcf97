"""JSON that means one thing only: what is ambiguous, endless or misspelt is refused, and named."""

import asyncio

import pytest

from tests import factories

PROBE = "/api/v1/probe"
JSON = {"Content-Type": "application/json"}


def post(client, body: bytes, **headers: str):
    return client.post(PROBE, content=body, headers={**JSON, **headers})


def refusal(answer) -> str:
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request"), answer.text
    return answer.json()["message"]


def test_a_good_body_is_read(probing):
    answer = post(
        probing, '{"title": "Größe", "inner": {"pageCount": 3}, "tags": ["\\ud83d\\ude00"]}'.encode()
    )
    assert answer.status_code == 200
    assert answer.json() == {
        "title": "Größe",
        "isFinal": None,
        "inner": {"pageCount": 3},
        "tags": ["\U0001f600"],
    }


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "Application/JSON", "application/vnd.partner+json"]
)
def test_json_may_be_named_in_several_ways(probing, media_type):
    assert post(probing, b'{"title": "x"}', **{"Content-Type": media_type}).status_code == 200


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/jsonx", ""],
)
def test_another_media_type_is_not_accepted(probing, media_type):
    answer = post(probing, b'{"title": "x"}', **{"Content-Type": media_type})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_type")


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"title":[', b'[{"a":'])
def test_a_body_nested_a_hundred_thousand_deep_is_refused(probing, opening):
    assert "nested deeper than 64 levels" in refusal(post(probing, opening * 100_000))


def test_sixty_four_levels_are_the_limit(probing):
    deepest = b"[" * 63 + b"1" + b"]" * 63
    assert "nested" not in refusal(post(probing, deepest))
    assert "nested deeper" in refusal(post(probing, b"[" + deepest + b"]"))


@pytest.mark.parametrize(
    "body",
    [b'{"title": "a", "title": "b"}', b'{"title": "a", "inner": {"pageCount": 1, "page\\u0043ount": 2}}'],
)
def test_a_key_that_stands_twice_is_refused(probing, body):
    assert "a key stands twice" in refusal(post(probing, body))


@pytest.mark.parametrize(
    "body",
    [
        b'{"title": "\\ud800"}',
        b'{"title": "\\udc00\\ud800"}',
        b'{"title": "x", "tags": ["\\uDBFFx"]}',
        b'{"\\ud800": 1}',
    ],
)
def test_half_a_surrogate_pair_is_no_character(probing, body):
    assert "surrogate" in refusal(post(probing, body))


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_what_is_no_number_is_refused(probing, number):
    message = refusal(post(probing, b'{"title": "x", "inner": {"pageCount": ' + number + b"}}"))
    assert f"{number.decode()} is not a number" in message


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5000])
def test_a_number_out_of_all_bounds_is_refused(probing, number):
    message = refusal(post(probing, b'{"title": "x", "inner": {"pageCount": ' + number + b"}}"))
    assert message.startswith("The body is not acceptable JSON: ")


@pytest.mark.parametrize(
    "body", [b"\xff", b'{"title": "\xc3"}', b'{"title": "\xed\xa0\x80"}', '{"title": "x"}'.encode("utf-16")]
)
def test_a_body_that_is_not_utf_8_is_refused(probing, body):
    assert refusal(post(probing, body)) == "The body is not UTF-8."


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{} {}",
        b"{'title': 'x'}",
        b'{"title": "x",}',
        b'\xef\xbb\xbf{"title": "x"}',
        b'{"title": "a\nb"}',
    ],
)
def test_what_is_no_json_is_refused_with_its_place(probing, body):
    message = refusal(post(probing, body))
    assert message.startswith("The body is not JSON: ")
    assert "line 1, column" in message


@pytest.mark.parametrize("body", [b"null", b"[]", b"7", b'"text"', b"true"])
def test_a_body_that_is_no_object_is_refused(probing, body):
    refusal(post(probing, body))


def test_an_unknown_field_is_named_with_the_nearest_one(probing):
    answer = post(probing, b'{"title": "x", "isFinall": true}')
    assert refusal(answer) == "isFinall: Unknown field. Did you mean 'isFinal'?"
    assert answer.json()["details"] == [
        {"field": "isFinall", "message": "Unknown field. Did you mean 'isFinal'?"}
    ]


def test_an_unknown_field_inside_is_named_with_the_nearest_one_there(probing):
    answer = post(probing, b'{"title": "x", "inner": {"pagecount": 1}}')
    assert refusal(answer) == "inner.pagecount: Unknown field. Did you mean 'pageCount'?"


def test_the_python_name_of_a_field_is_no_name_of_the_interface(probing):
    assert "is_final: Unknown field" in refusal(post(probing, b'{"title": "x", "is_final": true}'))


def test_every_fault_is_listed_with_its_field(probing):
    answer = post(probing, b'{"isFinal": "maybe", "tags": ["a", 7], "nonsense": 1}')
    details = {detail["field"]: detail["message"] for detail in answer.json()["details"]}
    assert list(details) == ["title", "isFinal", "tags.1", "nonsense"]
    assert details["title"] == "This is required."


def test_no_more_faults_are_listed_than_a_person_reads(probing):
    body = b'{"title": "x", ' + b",".join(b'"f%d": 1' % number for number in range(5000)) + b"}"
    assert len(post(probing, body).json()["details"]) == 20


def test_a_length_over_its_limit_is_400(probing):
    assert "20 characters" in refusal(post(probing, b'{"title": "' + b"x" * 21 + b'"}'))


@pytest.mark.parametrize("length", [b"104857600", b"1048577", b"9" * 30])
def test_a_body_announced_as_too_large_is_refused_unread(probing, length):
    asked = deliver(probing, [(b"content-length", length)], [b"{}"])
    assert asked == (413, 0)


def test_a_body_in_endless_chunks_is_refused_at_the_limit(probing):
    """100 MiB would come; the service stops listening at the second."""
    assert deliver(probing, [], [b" " * 2**20] * 100) == (413, 2)


def test_a_body_of_exactly_the_limit_is_read(probing):
    body = b'{"title": "x"}'.ljust(2**20)
    assert post(probing, body).status_code == 200
    assert post(probing, body + b" ").status_code == 413


def test_the_limit_is_a_setting(make_client, partner):
    client = factories.signed_in(make_client(limits={"json_bytes": 100}), partner)
    assert client.get("/api/v1/info").json()["limits"]["jsonBytes"] == 100


def deliver(client, headers: list[tuple[bytes, bytes]], chunks: list[bytes]) -> tuple[int, int]:
    """The status, and how many chunks of the body were asked for, of a request to the bare application."""
    token = client.headers["Authorization"].encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": PROBE,
        "raw_path": PROBE.encode(),
        "query_string": b"",
        "headers": [(b"authorization", token), (b"content-type", b"application/json"), *headers],
        "client": ("127.0.0.1", 1),
    }
    statuses: list[int] = []
    asked = 0

    async def receive() -> dict[str, object]:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": chunks[asked - 1], "more_body": asked < len(chunks)}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    asyncio.run(client.app(scope, receive, send))
    return statuses[0], asked
