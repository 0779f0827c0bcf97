"""Which URLs may be asked at all, in every spelling that a browser or the C library would take."""

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.fetching import urls
from assay.content.fetching.addresses import Allow, is_public
from assay.content.fetching.failures import ForbiddenAddress, InvalidUrl

NOBODY = Allow()


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c"),
        ("HTTP://EXAMPLE.com", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:8443", "https://example.com:8443/"),
        ("https://example.com.:/", "https://example.com/"),
        ("  https://example.com/  ", "https://example.com/"),
        ("https://bücher.example/über uns?q=ä", "https://xn--bcher-kva.example/%C3%BCber%20uns?q=%C3%A4"),
        ("https://example.com/50%25/a\\b", "https://example.com/50%25/a%5Cb"),
        ("https://example.com?q", "https://example.com/?q"),
        ("http://0x08.8.0x808", "http://8.8.8.8/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("https://under_score.example/", "https://under_score.example/"),
    ],
)
def test_a_url_takes_its_normal_form(given, normal):
    assert urls.check(given, NOBODY) == normal
    assert urls.check(normal, NOBODY) == normal


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "http:/example.com",
        "http:example.com",
        "//example.com/",
        "http://",
        "http:///path",
        "http://?q",
        "http://.",
        "http://a..b/",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:80a/",
        "http://example.com:\uff18\uff10/",
        "http://example.com:80:80/",
        "http://example.com\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://127%2e0.0.1/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://8.256.1.1/",
        "http://1.2.3.08/",
        "http://4294967296/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[2606:4700::1111%25eth0]/",
        "http://[127.0.0.1]/",
        "http://example.com/\r\nX-Injected: yes",
        "http://exam\tple.com/",
        "http://example.com/\x00",
        "http://example.com/\x85",
        "http://example.com/\ud800",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 130}example/",
        "http://example.com/" + "a" * 2048,
    ],
)
def test_a_url_that_can_never_be_fetched_is_refused_with_the_field_that_is_wrong(url):
    with pytest.raises(InvalidUrl) as refused:
        urls.check(url, NOBODY)
    assert refused.value.status == 400
    assert [detail.field for detail in refused.value.details] == ["url"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://example.com/", "must begin with http:// or https://"),
        ("http://me:secret@example.com/", "must not carry a user name or a password"),
        ("http://:80/", "does not name a host"),
        ("http://example.com:0/", "port of the URL must lie between 1 and 65,535"),
        ("http://a b/", "neither a name nor an address"),
        ("http://example.com/" + "a" * 2048, "longer than 2,048 characters"),
    ],
)
def test_a_refusal_says_what_to_mend_and_repeats_no_secret(url, says):
    with pytest.raises(InvalidUrl, match=says) as refused:
        urls.check(url, NOBODY)
    assert "secret" not in refused.value.message


PRIVATE_SPELLINGS = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0X7F.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "\uff11\uff12\uff17.0.0.1",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "0",
    "0x",
    "0.0.0.0",
    "localhost",
    "LOCALHOST.",
    "ⓛocalhost",
    "anything.localhost",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.19.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.1.2.3",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:FFFF:7F00:0001]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::808:808]",
    "[100::1]",
    "[2001::1]",
    "[2001:0:7f00:1::]",
    "[2001:2::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[2002:7f00:1::]",
    "[3fff::1]",
    "[5f00::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
]


@pytest.mark.parametrize("host", PRIVATE_SPELLINGS)
def test_a_private_address_is_refused_in_every_spelling(host):
    with pytest.raises(ForbiddenAddress):
        urls.check(f"http://{host}/", NOBODY)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "100.63.0.1", "172.32.0.1", "223.255.255.255", "2606:4700::1111", "64:ff9b::808:808"],
)
def test_the_public_internet_is_open(address):
    assert is_public(ip_address(address))


@settings(deadline=None)  # a loaded machine is no bug
@given(st.ip_addresses())
def test_nothing_is_public_that_python_knows_to_be_private(address):
    assert not (is_public(address) and (address.is_private or address.is_multicast))


def test_an_opened_endpoint_is_open_at_its_port_alone():
    allow = Allow.parse(" 127.0.0.1:18998, intranet.example:443,[::1]:8080 ,")

    assert urls.check("http://2130706433:18998/x", allow) == "http://127.0.0.1:18998/x"
    assert urls.check("http://localhost:18998/", allow) == "http://localhost:18998/"
    assert urls.check("http://[::1]:8080/", allow) == "http://[::1]:8080/"
    for closed in (
        "http://127.0.0.1/",
        "http://127.0.0.2:18998/",
        "http://[::ffff:127.0.0.1]:18998/",
        "http://[::1]/",
    ):
        with pytest.raises(ForbiddenAddress):
            urls.check(closed, allow)


def test_an_endpoint_opened_by_name_is_open_wherever_the_name_leads():
    allow = Allow.parse("Intranet.example.:443")
    private = ip_address("10.0.0.7")

    assert allow.admits("intranet.example", private, 443)
    assert not allow.admits("intranet.example", private, 80)
    assert not allow.admits("other.example", private, 443)


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "127.0.0.1:0", "127.0.0.1:http", ":80", "a b:80", "::1:80", "h:\uff16\uff16"]
)
def test_an_endpoint_that_cannot_be_read_stops_the_start_by_name(text):
    with pytest.raises(ValueError, match=r"Expected host:port, as in 127\.0\.0\.1:8080") as refused:
        Allow.parse(f"ok.example:1,{text}")
    assert repr(text) in str(refused.value)


@settings(deadline=None)  # a loaded machine is no bug
@given(st.text(max_size=60))
def test_no_text_whatever_breaks_the_check(text):
    for url in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            normal = urls.check(url, NOBODY)
        except InvalidUrl:
            continue
        assert normal.isascii()
        assert " " not in normal
        assert urls.check(normal, NOBODY, max_characters=10_000) == normal
