"""No connection to an address that is not public, however it is written or resolved."""

from __future__ import annotations

import socket

import httpcore
import pytest

from gslopes.collect.address import ForbiddenAddress, PublicNetwork, is_public

PRIVATE = [
    *("127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
    *("224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1"),
    *("fd12:3456::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:a00:1", "::ffff:169.254.169.254", "2002:7f00:1::"),
    *("64:ff9b::10.0.0.1", "2001:db8::1", "::127.0.0.1", "2001:0:7f00:1::", "64:ff9b:1::7f00:1", "fec0::1"),
    *("::ffff:0:7f00:1", "3fff::1", "5f00::1", "100:0:0:1::1", "4000::1", "2002:808:808::1", "192.88.99.1"),
]


def resolving(*addresses: str):
    return lambda host, port, **_: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_loopback_link_local_and_reserved_addresses_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"]
)
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_that_leads_to_a_private_address_is_not_connected_to(address):
    with pytest.raises(ForbiddenAddress):
        PublicNetwork(resolve=resolving(address)).connect_tcp("innocent.example", 80)


def test_one_private_address_among_public_ones_is_enough():
    with pytest.raises(ForbiddenAddress):
        PublicNetwork(resolve=resolving("8.8.8.8", "10.0.0.1")).connect_tcp("mixed.example", 443)


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "::1"])
def test_other_spellings_of_loopback_are_refused_or_do_not_resolve(host):
    with pytest.raises((ForbiddenAddress, httpcore.ConnectError)):
        PublicNetwork().connect_tcp(host, 80, timeout=1)


def test_an_exempt_server_is_exempt_at_its_port_alone():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        network = PublicNetwork(allowed=[f"127.0.0.1:{port}"])
        network.connect_tcp("127.0.0.1", port, timeout=5).close()
        with pytest.raises(ForbiddenAddress):
            network.connect_tcp("127.0.0.1", port - 1, timeout=5)
        with pytest.raises(ForbiddenAddress):
            network.connect_tcp("localhost", port, timeout=5)


def test_a_local_socket_is_never_public():
    with pytest.raises(ForbiddenAddress):
        PublicNetwork().connect_unix_socket("/run/docker.sock")
