"""No connection to an address that is not public, however it is written or resolved."""

from __future__ import annotations

import ipaddress
import re
import socket
from pathlib import Path

import httpcore
import pytest

from gslopes.collect import address as addresses
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


# --- the registries ---

# Every address block of both registries, sub-blocks as well; what they were compared with stands in the file.
IPV4 = (
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32"),
    *("192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32"),
    *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
    "255.255.255.255/32",
)
IPV6 = (
    *("::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128"),
    *("2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28"),
    *("2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16"),
    *("fc00::/7", "fe80::/10"),
)
# Judged by the IPv4 address that they spell, hence not in the list above: ::ffff:0:0/96 and 64:ff9b::/96.
BEYOND = ("224.0.0.0/4", "ff00::/8", "fec0::/10", "::ffff:0:0:0/96", "::/96", "4000::/2", "8000::/1")


def ends(block: str) -> list[str]:
    """The first, the middle and the last address of a block."""
    network = ipaddress.ip_network(block)
    kind = type(network.network_address)
    indices = (0, network.num_addresses // 2, network.num_addresses - 1)
    return [str(kind(int(network.network_address) + place)) for place in indices]


@pytest.mark.parametrize("block", [*IPV4, *IPV6, *BEYOND])
def test_no_address_of_a_special_purpose_block_is_public(block):
    assert [one for one in ends(block) if is_public(one)] == []


@pytest.mark.parametrize("block", IPV4)
@pytest.mark.parametrize("prefix", ["::ffff:", "64:ff9b::"])
def test_nor_is_it_as_an_ipv6_address_that_spells_it(block, prefix):
    assert [one for one in ends(block) if is_public(f"{prefix}{one}")] == []


def test_the_file_names_its_sources_with_a_date_and_covers_the_registries():
    text = (Path(addresses.__file__).parent / "data/special-purpose-addresses.csv").read_text("utf-8")
    assert re.search(r"iana-ipv4-special-registry.*iana-ipv6-special-registry", text, re.S)
    assert re.search(r"20\d\d-\d\d-\d\d", text)
    kept = addresses._special_blocks()
    for block in map(ipaddress.ip_network, (*IPV4, *IPV6)):
        assert any(block.version == one.version and block.subnet_of(one) for one in kept), block


def test_whatever_python_knows_not_to_be_global_is_not_public():
    blocks = [ipaddress.ip_network(one) for one in (*IPV4, *IPV6, *BEYOND)]
    for block in blocks:
        kind = type(block.network_address)
        first, last = int(block.network_address), int(block.broadcast_address)
        for number in {first - 1, first, first + 1, last - 1, last, last + 1}:
            if 0 <= number < 2**block.max_prefixlen:
                found = kind(number)
                assert found.is_global or not is_public(str(found)), found


def test_the_neighbours_of_the_blocks_are_public_where_they_are_in_none():
    for block in map(ipaddress.ip_network, ("10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "2001:db8::/32")):
        kind = type(block.network_address)
        for number in (int(block.network_address) - 1, int(block.broadcast_address) + 1):
            assert is_public(str(kind(number))), number
