"""From a host name to addresses that may be asked.

Owns the look-ups of one task and their cache. Nothing connects to an address that did not come from here, so a name
that points into a private network is refused whether it is written as a number, hidden in IPv6 or changed between
two look-ups. Never connects.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_GOOD_SECONDS = 300.0
_BAD_SECONDS = 60.0

# IANA special-purpose registries; Python's own properties differ between its versions.
_SPECIAL_V4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
_GLOBAL_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = [IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20")]
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")


class DnsFailed(Exception):
    """The name has no address, or the look-up did not end in time."""


class BlockedAddress(Exception):
    """Every address of the name is one that must not be asked."""


class Resolver:
    """Look-ups of one task; thread-safe.

    overrides: name to address, asked before DNS. allow_private: networks that may be asked although they are private.
    """

    def __init__(
        self,
        overrides: Mapping[str, str],
        allow_private: Sequence[str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._overrides = {name.lower(): address for name, address in overrides.items()}
        self._allowed = tuple(ip_network(network) for network in allow_private)
        self._monotonic = monotonic
        self._cache: dict[str, tuple[float, tuple[str, ...] | Exception]] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, timeout: float | None = None) -> tuple[str, ...]:
        """The addresses of `host` that may be asked, in the order to try them.

        host: a name in lower case, or an address (IPv6 in brackets). timeout: seconds. Raises DnsFailed and
        BlockedAddress.
        """
        now = self._monotonic()
        with self._lock:
            known = self._cache.get(host)
        if known and known[0] > now:
            found = known[1]
        else:
            try:
                found = self._checked(host, self._look_up(host, port, timeout))
            except (DnsFailed, BlockedAddress) as error:
                found = error
            seconds = _BAD_SECONDS if isinstance(found, Exception) else _GOOD_SECONDS
            with self._lock:
                self._cache[host] = (self._monotonic() + seconds, found)
        if isinstance(found, Exception):
            raise type(found)(*found.args)
        return found

    def _look_up(self, host: str, port: int, timeout: float | None) -> Sequence[str]:
        bare = host.strip("[]").rstrip(".")
        if bare in self._overrides:
            return (self._overrides[bare],)
        if bare == "localhost" or bare.endswith(".localhost"):
            return ("127.0.0.1", "::1")  # RFC 6761: never asked in DNS
        try:
            return (str(ip_address(bare)),)
        except ValueError:
            return _ask(bare, port, timeout)

    def _checked(self, host: str, addresses: Sequence[str]) -> tuple[str, ...]:
        good = tuple(address for address in addresses if not is_blocked(address, self._allowed))
        if not good:
            raise BlockedAddress(f"{host} is {addresses[0]}, which must not be asked (fetch.allow_private)")
        return good


def is_blocked(address: str, allowed: Sequence[Network] = ()) -> bool:
    """Whether `address` is private, reserved or otherwise not for the public, and in no `allowed` network.

    An IPv6 address that embeds an IPv4 one is blocked if either is.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return True
    forms: list[Address] = [parsed, *_embedded(parsed)]
    if any(form in network for form in forms for network in allowed if form.version == network.version):
        return False
    return any(_is_special(form) for form in forms)


def _embedded(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return []
    found: list[Address] = [part for part in (address.ipv4_mapped, address.sixtofour) if part]
    if address.teredo:
        found += address.teredo
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        found.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return found


def _is_special(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return any(address in network for network in _SPECIAL_V4)
    if address in _NAT64 or address.ipv4_mapped:
        return False  # what it embeds decides
    return address not in _GLOBAL_V6 or any(address in network for network in _SPECIAL_V6)


def _ask(host: str, port: int, timeout: float | None) -> Sequence[str]:
    # The C library's look-up cannot be interrupted: it gets a thread of its own, which is left behind if it is late.
    answer: list[Sequence[str] | Exception] = []
    done = threading.Event()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.append(tuple(dict.fromkeys(str(entry[4][0]) for entry in found)))
        except (OSError, UnicodeError) as error:
            answer.append(error)
        done.set()

    threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
    if not done.wait(timeout):
        raise DnsFailed(f"no answer for {host} within {timeout:.0f} s")
    found = answer[0]
    if isinstance(found, Exception):
        raise DnsFailed(f"{host}: {found}")
    if not found:
        raise DnsFailed(f"{host} has no address")
    return found
