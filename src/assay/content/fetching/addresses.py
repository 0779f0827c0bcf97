"""Which addresses may be reached: the public Internet, and what the operator has opened by name."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Self

from assay.content.fetching import hosts
from assay.content.fetching.hosts import Address, Host

# `ipaddress.is_global` is no guard: it passes 192.0.0.192, 192.88.99.1 and multicast, and it knows
# nothing of a cloud's own endpoints on public numbers.
_CLOSED_V4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; metadata of one cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host agent, on a public number
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; metadata of one cloud
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # automatic multicast tunnelling
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

# Only this part of IPv6 is given out as global unicast. All else is closed without being named:
# loopback, IPv4 mapped, translated and compatible, fc00::, fe80::, fec0::, 5f00::, multicast.
_GLOBAL_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which wraps any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
# A network without IPv4 reaches all of it through this prefix, so it is as open as what it wraps.
_NAT64 = IPv6Network("64:ff9b::/96")

_LOOPBACK: tuple[Address, ...] = (IPv4Address("127.0.0.1"), IPv6Address("::1"))


def is_public(address: Address) -> bool:
    """Whether the address lies on the public Internet, also behind what it wraps."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        return address in _GLOBAL_V6 and not any(address in block for block in _CLOSED_V6)
    return not any(address in block for block in _CLOSED_V4)


@dataclass(frozen=True, slots=True)
class Allow:
    """Endpoints that the operator has opened, by address or by name, each with its port."""

    endpoints: frozenset[tuple[Host, int]] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `127.0.0.1:18998,intranet.example:443,[::1]:8080`; ValueError names the part that is wrong."""
        return cls(frozenset(_endpoint(part.strip()) for part in text.split(",") if part.strip()))

    def admits(self, host: Host, address: Address, port: int) -> bool:
        """Whether `address` may be reached at `port` for a URL that names `host`."""
        return is_public(address) or not self.endpoints.isdisjoint({(host, port), (address, port)})

    def admitted(self, host: Host, addresses: Iterable[Address], port: int) -> list[Address]:
        """Those addresses that may be reached, in their order, each once."""
        return [found for found in dict.fromkeys(addresses) if self.admits(host, found, port)]


def known_without_look_up(host: Host) -> tuple[Address, ...]:
    """The addresses of a host that needs no name server; empty where one must be asked."""
    if not isinstance(host, str):
        return (host,)
    return _LOOPBACK if host == "localhost" or host.endswith(".localhost") else ()


def _endpoint(text: str) -> tuple[Host, int]:
    host, _, port = text.rpartition(":")
    try:
        endpoint = hosts.parse(host), int(port)
    except ValueError:
        endpoint = "", 0
    if not (port.isascii() and 0 < endpoint[1] < 65536):
        raise ValueError(f"Expected host:port, as in 127.0.0.1:8080, not {text!r}.")
    return endpoint
