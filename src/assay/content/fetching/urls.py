"""A URL as somebody gave it becomes one that may be asked, or a sentence that says why not."""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin

from assay.content.fetching import hosts
from assay.content.fetching.addresses import Allow, known_without_look_up
from assay.content.fetching.failures import ForbiddenAddress, InvalidUrl
from assay.content.fetching.hosts import Host
from assay.errors import Detail

MAX_CHARACTERS = 2048

# Not urllib's: it silently drops tabs and line ends, and what is judged must be what is asked.
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?", re.IGNORECASE
)
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>[0-9]{0,5}))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# What a browser leaves as it is; a percent sign is the writer's own.
_SAFE = "!#$%&'()*+,/:;=?@[]^_{|}~"


@dataclass(frozen=True, slots=True)
class Url:
    """A URL taken apart: `target` is path and query as they stand in a request."""

    scheme: str
    host: Host
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port, as in the `Host` header: without the port that goes without saying."""
        host = hosts.spell(self.host)
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def last_segment(self) -> str:
        return unquote(self.target.partition("?")[0].rpartition("/")[2], errors="replace")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def check(text: str, allow: Allow, *, max_characters: int = MAX_CHARACTERS) -> str:
    """The URL in its normal form. InvalidUrl (400) for one that can never be fetched.

    A name passes here: where it leads is known, and judged, when it is looked up.
    """
    return str(parse(text, allow, max_characters=max_characters))


def parse(text: str, allow: Allow, *, max_characters: int = MAX_CHARACTERS) -> Url:
    """As `check`, taken apart."""
    if len(text) > max_characters:
        raise _invalid(f"The URL is longer than {max_characters:,} characters.")
    if _has_control_characters(text):
        raise _invalid("The URL holds a control character.")
    match = _URL.match(text.strip(" "))
    if match is None:
        raise _invalid("The URL must begin with http:// or https://.")
    scheme = match["scheme"].lower()
    host, port = _endpoint(match["authority"], _DEFAULT_PORTS[scheme])
    target = quote((match["path"] or "/") + (match["query"] or ""), safe=_SAFE)
    known = known_without_look_up(host)
    if known and not allow.admitted(host, known, port):
        raise ForbiddenAddress(details=_details(str(ForbiddenAddress.__doc__)))
    return Url(scheme, host, port, target)


def follow(url: Url, location: str, allow: Allow, *, max_characters: int = MAX_CHARACTERS) -> Url:
    """Where a redirect leads, judged like a URL from outside."""
    try:
        # `urljoin` would drop control characters; without it they are found and refused.
        joined = location if _has_control_characters(location) else urljoin(str(url), location)
        return parse(joined, allow, max_characters=max_characters)
    except ForbiddenAddress:
        raise
    except (InvalidUrl, ValueError) as error:
        raise _invalid("The address redirects to a URL that cannot be fetched.") from error


def _has_control_characters(text: str) -> bool:
    """Also lone surrogates, which no request can carry."""
    return any(unicodedata.category(character) in {"Cc", "Cs"} for character in text)


def _endpoint(authority: str, default_port: int) -> tuple[Host, int]:
    if "@" in authority:
        raise _invalid("The URL must not carry a user name or a password.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise _invalid("The URL does not name a host and a port.")
    if not match["host"]:
        raise _invalid("The URL does not name a host.")
    port = int(match["port"] or default_port)
    if not 0 < port < 65536:
        raise _invalid("The port of the URL must lie between 1 and 65,535.")
    try:
        return hosts.parse(match["host"]), port
    except ValueError as error:
        raise _invalid("The host of the URL is neither a name nor an address.") from error


def _invalid(message: str) -> InvalidUrl:
    return InvalidUrl(message, details=_details(message))


def _details(message: str) -> list[Detail]:
    return [Detail("url", message)]
