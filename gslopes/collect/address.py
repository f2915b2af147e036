"""Which hosts may be connected to: public ones alone, checked at the moment of connecting, at the address connected to.

A name that is checked first and resolved again later can point somewhere else the second time. Here the name is
resolved once, every address that it has is checked, and the connection goes to one of them.
"""

from __future__ import annotations

import functools
import ipaddress
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import httpcore

from gslopes.ask.transport import Exchange, WatchedNetwork

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[..., list[tuple[Any, ...]]]

_SPECIAL = Path(__file__).parent / "data/special-purpose-addresses.csv"
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenAddress(Exception):
    """A host is, or leads to, an address that is not public."""


def is_public(address: str) -> bool:
    """Whether an IP address is global unicast and in no block of IANA's special-purpose registries.

    An address that only spells an IPv4 address (``::ffff:a.b.c.d``, and ``64:ff9b::a.b.c.d`` of networks without IPv4)
    is judged by that one.

    address: IPv4 or IPv6; with a zone (``%eth0``) it is a local one.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b:1::7f00:1")]
    [True, False, False, False, False]

    Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), kept with their date in ``data/``.
    """
    if "%" in address:
        return False
    found = _unwrapped(ipaddress.ip_address(address))
    if isinstance(found, ipaddress.IPv6Address) and found not in _GLOBAL_UNICAST:
        return False
    return not any(found in block for block in _special_blocks())


@functools.cache
def _special_blocks() -> tuple[Network, ...]:
    lines = _SPECIAL.read_text(encoding="utf-8").splitlines()
    rows = [line.partition(",")[0] for line in lines if not line.startswith("#")]
    return tuple(ipaddress.ip_network(block) for block in rows[1:])


def _unwrapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address


class PublicNetwork(WatchedNetwork):
    """Opens connections to public addresses alone; what is read from them keeps to the exchange's deadline.

    exchange: see ``ask.transport.Exchange``.  allowed: ``host:port`` of servers that are exempt, for tests.
    resolve: as ``socket.getaddrinfo``.
    """

    def __init__(
        self, exchange: Exchange | None = None, allowed: Iterable[str] = (), resolve: Resolve = socket.getaddrinfo
    ) -> None:
        super().__init__(exchange or Exchange())
        self._allowed = frozenset(allowed)
        self._resolve = resolve

    def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.NetworkStream:
        """Connect, at an address that was checked.

        Raises: ForbiddenAddress if any address of the host is not public; httpcore.ConnectError; DeadlineExceeded.
        """
        address = host if f"{host}:{port}" in self._allowed else self._checked(host, port)
        return super().connect_tcp(address, port, *rest, **named)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Raises: ForbiddenAddress: a local socket is never public."""
        raise ForbiddenAddress("a local socket")

    def _checked(self, host: str, port: int) -> str:
        try:
            found = self._exchange.run(lambda: self._resolve(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"no address: {error}") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses or not all(map(is_public, addresses)):
            raise ForbiddenAddress("its address is private, loopback or link-local")
        return addresses[0]
