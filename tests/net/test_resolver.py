"""From names to addresses that may be asked."""

import socket
import threading
from ipaddress import IPv4Address, ip_network
from typing import Any

import pytest

from crawler.net import resolver as resolver_module
from crawler.net.resolver import BlockedAddress, DnsFailed, Resolver, is_blocked


class CountedLookups:
    """getaddrinfo for names that exist nowhere else."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked.append(host)
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.answers[host]]


@pytest.fixture(name="lookups")
def _lookups(monkeypatch: pytest.MonkeyPatch) -> CountedLookups:
    lookups = CountedLookups({"a.test": ["8.8.8.8"], "mixed.test": ["10.0.0.1", "8.8.4.4"], "in.test": ["10.0.0.1"]})
    monkeypatch.setattr(socket, "getaddrinfo", lookups)
    return lookups


def test_a_setting_comes_before_dns_and_is_checked_like_it(lookups: CountedLookups) -> None:
    resolver = Resolver({"A.test": "127.0.0.7", "b.test": "127.0.1.7"}, ["127.0.0.0/24"])
    assert resolver.resolve("a.test", 80) == ("127.0.0.7",)
    with pytest.raises(BlockedAddress):
        resolver.resolve("b.test", 80)
    assert lookups.asked == []


def test_private_addresses_of_a_name_are_left_out(lookups: CountedLookups) -> None:
    resolver = Resolver({}, [])
    assert resolver.resolve("mixed.test", 80) == ("8.8.4.4",)
    with pytest.raises(BlockedAddress, match=r"in\.test is 10\.0\.0\.1"):
        resolver.resolve("in.test", 80)


@pytest.mark.parametrize("name", ["localhost", "x.localhost", "localhost."])
def test_localhost_is_never_asked_in_dns(lookups: CountedLookups, name: str) -> None:
    with pytest.raises(BlockedAddress):
        Resolver({}, []).resolve(name, 80)
    assert Resolver({}, ["127.0.0.0/8"]).resolve(name, 80) == ("127.0.0.1",)
    assert lookups.asked == []


def test_answers_are_kept_for_a_while_good_ones_longer(lookups: CountedLookups) -> None:
    clock = [0.0]
    resolver = Resolver({}, [], lambda: clock[0])
    for clock[0] in (0.0, 59.0, 61.0, 299.0, 301.0):
        resolver.resolve("a.test", 80)
        with pytest.raises(DnsFailed):
            resolver.resolve("none.test", 80)
    assert (lookups.asked.count("a.test"), lookups.asked.count("none.test")) == (2, 3)


def test_a_lookup_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()

    def never(*_: Any, **__: Any) -> list[Any]:
        end.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", never)
    with pytest.raises(DnsFailed, match="within"):
        Resolver({}, []).resolve("slow.test", 80, 0.05)
    end.set()


def test_an_allowed_network_lets_its_embedded_forms_pass_and_nothing_else() -> None:
    resolver = Resolver({}, ["10.0.0.0/8"])
    assert resolver.resolve("10.1.1.1", 80) == ("10.1.1.1",)
    assert len(resolver.resolve("[::ffff:10.1.1.1]", 80)) == 1
    with pytest.raises(BlockedAddress):
        resolver.resolve("192.168.0.1", 80)


def test_lives_are_settings_and_zero_asks_each_time(lookups: CountedLookups) -> None:
    clock = [0.0]
    resolver = Resolver({}, [], lambda: clock[0], good_seconds=10, bad_seconds=0)
    for clock[0] in (0.0, 9.0, 11.0):
        resolver.resolve("a.test", 80)
        with pytest.raises(DnsFailed):
            resolver.resolve("none.test", 80)
    assert (lookups.asked.count("a.test"), lookups.asked.count("none.test")) == (2, 3)


def test_a_refused_name_is_not_looked_up_again_for_a_while_either(lookups: CountedLookups) -> None:
    resolver = Resolver({}, [])
    for _ in range(3):
        with pytest.raises(BlockedAddress):
            resolver.resolve("in.test", 80)
    assert lookups.asked == ["in.test"]


def test_a_host_stays_at_its_address_while_dns_names_it_whatever_the_order(lookups: CountedLookups) -> None:
    clock = [0.0]
    resolver = Resolver({}, [], lambda: clock[0], good_seconds=10)
    found = []
    for turn, answer in enumerate((["8.8.8.8", "8.8.4.4"], ["8.8.4.4", "8.8.8.8"], ["8.8.4.4", "1.1.1.1"])):
        clock[0] = turn * 11.0
        lookups.answers["a.test"] = answer
        found.append(resolver.resolve("a.test", 80))
    assert found == [("8.8.8.8", "8.8.4.4"), ("8.8.8.8", "8.8.4.4"), ("8.8.4.4", "1.1.1.1")]


def test_an_address_that_answers_comes_before_those_that_do_not(lookups: CountedLookups) -> None:
    lookups.answers["a.test"] = ["8.8.8.8", "8.8.4.4"]
    resolver = Resolver({}, [])
    resolver.resolve("a.test", 80)
    resolver.prefer("a.test", "8.8.4.4")
    assert resolver.resolve("a.test", 80) == ("8.8.4.4", "8.8.8.8")
    resolver.prefer("a.test", "1.1.1.1")  # was never one of them
    assert resolver.resolve("a.test", 80) == ("8.8.4.4", "8.8.8.8")


def test_what_is_remembered_is_bounded(lookups: CountedLookups, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver_module, "_MOST_KNOWN", 3)
    resolver = Resolver({}, [])
    for name in ("1.test", "2.test", "3.test", "1.test", "4.test", "1.test", "2.test"):
        lookups.answers[name] = ["8.8.8.8"]
        resolver.resolve(name, 80)
    assert lookups.asked == ["1.test", "2.test", "3.test", "4.test", "2.test"]  # the one not used for longest went
    lookups.answers["many.test"] = [f"8.8.{n // 250}.{n % 250}" for n in range(1000)]
    assert len(resolver.resolve("many.test", 80)) == 16


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1", "127.1", "017700000001", "0", "0x0"]
)
def test_an_address_in_any_notation_is_an_address_and_not_a_name(lookups: CountedLookups, host: str) -> None:
    with pytest.raises(BlockedAddress):
        Resolver({}, []).resolve(host, 80)
    assert lookups.asked == []


def test_a_public_address_in_another_notation_is_asked_at_its_place(lookups: CountedLookups) -> None:
    assert Resolver({}, []).resolve("0x08080808", 80) == ("8.8.8.8",)


@pytest.mark.parametrize("host", ["256.1.1.1", "4294967296", "0x", "1.2.3.09"])
def test_a_number_that_is_no_address_is_not_looked_up(lookups: CountedLookups, host: str) -> None:
    with pytest.raises(DnsFailed):
        Resolver({}, []).resolve(host, 80)
    assert lookups.asked == []


EMBEDDED = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1", "224.0.0.1"]
PUBLIC = ["8.8.8.8", "1.1.1.1"]


def forms_of(address: str) -> dict[str, str]:
    """The IPv6 forms that carry an IPv4 address, by their name."""
    number = int(IPv4Address(address))
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    hidden = number ^ 0xFFFF_FFFF
    return {
        "mapped": f"::ffff:{high}:{low}",
        "6to4": f"2002:{high}:{low}::1",
        "NAT64": f"64:ff9b::{high}:{low}",
        "Teredo, client": f"2001:0:808:808:0:0:{hidden >> 16:x}:{hidden & 0xFFFF:x}",
        "Teredo, server": f"2001:0:{high}:{low}:0:0:f7f7:f7f7",
        "compatible": f"::{high}:{low}",
        "translated": f"::ffff:0:{high}:{low}",
        "ISATAP": f"2a00:1450:4001:800:0:5efe:{high}:{low}",
        "ISATAP, universal": f"2a00:1450:4001:800:200:5efe:{high}:{low}",
        "NAT64, local use": f"64:ff9b:1::{high}:{low}",
    }


@pytest.mark.parametrize("form", forms_of("0.0.0.0"))
def test_a_private_address_is_refused_in_every_form_of_ipv6_that_carries_it(form: str) -> None:
    assert all(is_blocked(forms_of(address)[form]) for address in EMBEDDED)
    is_tunnel = form in ("mapped", "6to4", "NAT64", "ISATAP", "ISATAP, universal")
    assert [is_blocked(forms_of(address)[form]) for address in PUBLIC] == [not is_tunnel] * 2


def test_an_allowed_network_does_not_open_what_else_an_address_carries() -> None:
    both = "2002:a00:1::5efe:a9fe:a9fe"  # 6to4 of 10.0.0.1 and ISATAP of 169.254.169.254
    ten, link_local = ip_network("10.0.0.0/8"), ip_network("169.254.0.0/16")
    assert is_blocked(both, [ten])
    assert not is_blocked(both, [ten, link_local])
    assert not is_blocked(both, [ip_network("2002::/16")])


def test_look_ups_that_hang_are_bounded_and_fail_the_others_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()

    def never(*_: Any, **__: Any) -> list[Any]:
        end.wait(10)
        raise socket.gaierror(socket.EAI_AGAIN, "too late")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    monkeypatch.setattr(resolver_module, "_MOST_LOOKUPS", 3)
    resolver = Resolver({}, [])
    before = threading.active_count()
    for number in range(3):
        with pytest.raises(DnsFailed, match="no answer for"):
            resolver.resolve(f"{number}.test", 80, 0.01)
    for number in range(20):
        with pytest.raises(DnsFailed, match="3 others have not ended"):
            resolver.resolve(f"late{number}.test", 80, 0.01)
    assert threading.active_count() - before == 3
    end.set()
    lookups = CountedLookups({"a.test": ["8.8.8.8"]})
    monkeypatch.setattr(socket, "getaddrinfo", lookups)
    assert resolver.resolve("a.test", 80, 5) == ("8.8.8.8",)  # their places are free again


@pytest.mark.parametrize("address", ["not an address", "", "fe80::1%eth0", "::", "64:ff9b:1::1"])
def test_what_is_no_public_address_is_refused(address: str) -> None:
    assert is_blocked(address)
