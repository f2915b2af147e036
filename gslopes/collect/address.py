"""Which hosts may be connected to: public ones alone, checked at the moment of connecting, at the address connected to.

A name that is checked first and resolved again later can point somewhere else the second time. Here the name is
resolved once, every address that it has is checked, and the connection goes to one of them.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[..., list[tuple[Any, ...]]]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenAddress(Exception):
    """A host is, or leads to, an address that is not public."""


def is_public(address: str) -> bool:
    """Whether an IP address, and each address that it wraps, is one of the public internet.

    address: IPv4 or IPv6; a zone (``%eth0``) is a mark of a local one.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::7f00:1")]
    [True, False, False, False, False]
    """
    if "%" in address:
        return False
    return all(one.is_global and not one.is_multicast for one in _unwrapped(ipaddress.ip_address(address)))


def _unwrapped(address: Address) -> Iterable[Address]:
    """The address itself, or the IPv4 addresses inside of it (mapped, 6to4, Teredo, NAT64, IPv4-compatible)."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    inside: list[Address] = [address]
    if address.sixtofour is not None:
        inside.append(address.sixtofour)
    if address.teredo is not None:
        inside += address.teredo
    if int(address) >> 32 == 0:
        inside.append(ipaddress.IPv4Address(int(address)))
    return inside


class PublicNetwork(httpcore.NetworkBackend):
    """Opens connections to public addresses alone.

    allowed: ``host:port`` of servers that are exempt, for tests.  resolve: as ``socket.getaddrinfo``.
    """

    def __init__(self, allowed: Iterable[str] = (), resolve: Resolve = socket.getaddrinfo) -> None:
        self._allowed = frozenset(allowed)
        self._resolve = resolve
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect, at an address that was checked.

        Raises: ForbiddenAddress if any address of the host is not public; httpcore.ConnectError.
        """
        address = host if f"{host}:{port}" in self._allowed else self._checked(host, port)
        return self._inner.connect_tcp(address, port, timeout, local_address, socket_options)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Raises: ForbiddenAddress: a local socket is never public."""
        raise ForbiddenAddress("a local socket")

    def sleep(self, seconds: float) -> None:
        """For the retries of httpcore, which are not used."""
        self._inner.sleep(seconds)

    def _checked(self, host: str, port: int) -> str:
        try:
            found = self._resolve(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"no address: {error}") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses or not all(map(is_public, addresses)):
            raise ForbiddenAddress("its address is private, loopback or link-local")
        return addresses[0]
