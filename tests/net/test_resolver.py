"""From names to addresses that may be asked."""

import socket
import threading
from typing import Any

import pytest

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


@pytest.mark.parametrize("address", ["not an address", "", "fe80::1%eth0", "::", "64:ff9b:1::1"])
def test_what_is_no_public_address_is_refused(address: str) -> None:
    assert is_blocked(address)
