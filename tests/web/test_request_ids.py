"""Every response can be found again in the logs."""

import re

import pytest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
NEW = re.compile(r"[0-9a-f]{32}")


def id_of(client, **headers: str) -> str:
    answer = client.get("/livez", headers=headers)
    assert answer.headers.get_list("x-request-id") == [answer.headers["x-request-id"]]
    return answer.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/livez", "/nothing", "/api/v1/info", "/openapi.json", "/docs"])
def test_every_answer_carries_an_id(anonymous, path):
    assert NEW.fullmatch(anonymous.get(path).headers["x-request-id"])


def test_each_request_has_its_own(anonymous):
    assert id_of(anonymous) != id_of(anonymous)


@pytest.mark.parametrize("given", ["a", "order-7:2026.01_x", "x" * 128])
def test_a_sane_id_is_kept(anonymous, given):
    assert id_of(anonymous, **{"X-Request-Id": given}) == given


@pytest.mark.parametrize("given", ["", "x" * 129, "two words", "<script>", "a\tb", "a,b", '"'])
def test_any_other_id_is_replaced(anonymous, given):
    assert NEW.fullmatch(id_of(anonymous, **{"X-Request-Id": given}))


def test_an_id_that_is_no_text_is_replaced(anonymous):
    answer = anonymous.get("/livez", headers={b"X-Request-Id": b"\xff\xfe"})
    assert NEW.fullmatch(answer.headers["x-request-id"])


def test_the_trace_gives_the_id_where_there_is_none(anonymous):
    assert id_of(anonymous, traceparent=TRACEPARENT) == TRACE


def test_a_given_id_goes_before_the_trace(anonymous):
    assert id_of(anonymous, traceparent=TRACEPARENT, **{"X-Request-Id": "mine"}) == "mine"


@pytest.mark.parametrize(
    "traceparent",
    ["garbage", TRACEPARENT.upper(), f"00-{'0' * 32}-00f067aa0ba902b7-01", TRACEPARENT + "-more", TRACE],
)
def test_a_malformed_trace_is_passed_over(anonymous, traceparent):
    found = id_of(anonymous, traceparent=traceparent)
    assert NEW.fullmatch(found)
    assert found != TRACE
