"""The host of a URL in its one spelling: an address, or an ASCII name in lower case.

A browser takes `0x7f.1`, `2130706433`, `127.0.0.1.` and full-width digits for 127.0.0.1, and so does
the C library. They are all read here, so that what is judged is what would be reached.
"""

import re
from ipaddress import IPv4Address, IPv6Address

import idna

Address = IPv4Address | IPv6Address
Host = Address | str

_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_LONGEST_NAME = 253


def parse(text: str) -> Host:
    """Read a host as it stands in a URL; an IPv6 address stands in brackets. ValueError otherwise."""
    if text.startswith("["):
        return _ipv6(text)
    name = _ascii(text).removesuffix(".")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _ipv4(name)
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise ValueError("This is not the name of a host.")
    return name


def spell(host: Host) -> str:
    """The host as it stands in a URL."""
    return f"[{host}]" if isinstance(host, IPv6Address) else str(host)


def _ascii(text: str) -> str:
    if text.isascii():
        return text.lower()
    mapped = idna.uts46_remap(text, std3_rules=False)
    return mapped if mapped.isascii() else idna.encode(mapped).decode("ascii")


def _ipv6(text: str) -> IPv6Address:
    # A zone (fe80::1%eth0) names an interface of this machine: never in a URL from outside.
    if not text.endswith("]") or "%" in text:
        raise ValueError("This is not an IPv6 address.")
    return IPv6Address(text[1:-1])


def _ipv4(name: str) -> IPv4Address:
    """As inet_aton reads it: one to four numbers, the last one filling what is left."""
    *firsts, last = [_number(part) for part in name.split(".")]
    if len(firsts) > 3 or any(first > 255 for first in firsts) or last >= 256 ** (4 - len(firsts)):
        raise ValueError("This is not an IPv4 address.")
    return IPv4Address(sum(first << (24 - 8 * place) for place, first in enumerate(firsts)) + last)


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError("This is not a number of an IPv4 address.")
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)
