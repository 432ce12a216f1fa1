"""From a host name to addresses that may be asked.

Owns the look-ups of one task and their cache. Nothing connects to an address that did not come from here, so a name
that points into a private network is refused whether it is written as a number, hidden in IPv6 or changed between
two look-ups. Never connects.
"""

import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_MOST_KNOWN = 1 << 16  # hosts in the cache; the one that was not asked for longest makes room
_MOST_ADDRESSES = 16  # of a host
_MOST_LOOKUPS = 64  # at the same time, those that hang included
_NUMBER = r"(?:0[xX][0-9a-fA-F]*|[0-9]+)"
_NUMERIC = re.compile(rf"{_NUMBER}(?:\.{_NUMBER}){{0,3}}")

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
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 2765
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # RFC 5214, before the IPv4 address


class DnsFailed(Exception):
    """The name has no address, or the look-up did not end in time."""


class BlockedAddress(Exception):
    """Every address of the name is one that must not be asked."""


class Resolver:
    """Look-ups of one task; thread-safe.

    overrides: name to address, asked before DNS. allow_private: networks that may be asked although they are private.
    good_seconds, bad_seconds: how long an answer is used, and how long its absence.

    A host of several addresses stays at the one that it was last asked at while DNS still names it: its connection
    and its address's gate are there.
    """

    def __init__(
        self,
        overrides: Mapping[str, str],
        allow_private: Sequence[str],
        monotonic: Callable[[], float] = time.monotonic,
        *,
        good_seconds: float = 300.0,
        bad_seconds: float = 60.0,
    ) -> None:
        self._overrides = {name.lower(): address for name, address in overrides.items()}
        self._allowed = tuple(ip_network(network) for network in allow_private)
        self._monotonic = monotonic
        self._good_seconds = good_seconds
        self._bad_seconds = bad_seconds
        self._cache: OrderedDict[str, tuple[float, tuple[str, ...] | Exception]] = OrderedDict()
        self._lock = threading.Lock()
        self._lookups = threading.BoundedSemaphore(_MOST_LOOKUPS)
        self._waits: set[threading.Event] = set()

    def resolve(self, host: str, port: int, timeout: float | None = None) -> tuple[str, ...]:
        """The addresses of `host` that may be asked, in the order to try them.

        host: a name in lower case, or an address (IPv6 in brackets). timeout: seconds. Raises DnsFailed and
        BlockedAddress.
        """
        with self._lock:
            known = self._cache.get(host)
            if known:
                self._cache.move_to_end(host)
        if known and known[0] > self._monotonic():
            found = known[1]
        else:
            try:
                found = self._checked(host, self._look_up(host, port, timeout))
            except (DnsFailed, BlockedAddress) as error:
                found = error
            if known and not isinstance(found, Exception) and not isinstance(known[1], Exception):
                found = _first(known[1][0], found)
            self._keep(host, found)
        if isinstance(found, Exception):
            raise type(found)(*found.args)
        return found

    def prefer(self, host: str, address: str) -> None:
        """Name `address`, which has answered where one before it has not, first from now on."""
        with self._lock:
            known = self._cache.get(host)
            if known and not isinstance(known[1], Exception):
                self._cache[host] = (known[0], _first(address, known[1]))

    def refuse_literal(self, host: str) -> None:
        """Raise BlockedAddress if `host` itself is an address that must not be asked, whoever would look names up."""
        bare = _bare(host)
        addresses = self._overrides.get(bare) or _literal(bare)
        if addresses:
            self._checked(host, [addresses] if isinstance(addresses, str) else addresses)

    def abandon(self) -> None:
        """Let nobody wait for a look-up any longer; those under way count as failed."""
        for done in tuple(self._waits):
            done.set()

    def _keep(self, host: str, found: tuple[str, ...] | Exception) -> None:
        seconds = self._bad_seconds if isinstance(found, Exception) else self._good_seconds
        with self._lock:
            self._cache[host] = (self._monotonic() + seconds, found)
            self._cache.move_to_end(host)
            if len(self._cache) > _MOST_KNOWN:
                self._cache.popitem(last=False)

    def _look_up(self, host: str, port: int, timeout: float | None) -> Sequence[str]:
        bare = _bare(host)
        if bare in self._overrides:
            return (self._overrides[bare],)
        literal = _literal(bare)
        if literal:
            return literal
        done = threading.Event()
        self._waits.add(done)
        try:
            return _ask(bare, port, timeout, self._lookups, done)
        finally:
            self._waits.discard(done)

    def _checked(self, host: str, addresses: Sequence[str]) -> tuple[str, ...]:
        good = tuple(address for address in addresses if not is_blocked(address, self._allowed))
        if not good:
            raise BlockedAddress(f"{host} is {addresses[0]}, which must not be asked (fetch.allow_private)")
        return good[:_MOST_ADDRESSES]


def is_blocked(address: str, allowed: Sequence[Network] = ()) -> bool:
    """Whether `address` is private, reserved or otherwise not for the public, and in no `allowed` network.

    An IPv6 address that embeds an IPv4 one is blocked if either is.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if _is_in(parsed, allowed):
        return False
    return any(_is_special(form) and not _is_in(form, allowed) for form in (parsed, *_embedded(parsed)))


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _embedded(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return []
    found: list[Address] = [part for part in (address.ipv4_mapped, address.sixtofour) if part]
    if address.teredo:
        found += address.teredo
    number = int(address)
    last = number & 0xFFFF_FFFF
    is_isatap = number >> 32 & 0xFFFF_FFFF in _ISATAP
    if is_isatap or address in _NAT64 or address in _TRANSLATED or (address in _COMPATIBLE and number > 1):
        found.append(IPv4Address(last))
    return found


def _is_special(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return any(address in network for network in _SPECIAL_V4)
    if address in _NAT64 or address.ipv4_mapped:
        return False  # what it embeds decides
    return address not in _GLOBAL_V6 or any(address in network for network in _SPECIAL_V6)


def _bare(host: str) -> str:
    return host.strip("[]").rstrip(".")


def _first(address: str, addresses: tuple[str, ...]) -> tuple[str, ...]:
    """`addresses` with `address` in front, if it is one of them."""
    return (address, *(other for other in addresses if other != address)) if address in addresses else addresses


def _literal(bare: str) -> tuple[str, ...]:
    """The addresses that a host means without DNS, in whatever notation; none for a name. Raises DnsFailed."""
    if bare == "localhost" or bare.endswith(".localhost"):
        return ("127.0.0.1", "::1")  # RFC 6761: never asked in DNS
    try:
        return (str(ip_address(bare)),)
    except ValueError:
        if not _NUMERIC.fullmatch(bare):
            return ()
    try:  # decimal, octal and hexadecimal numbers, one to four of them: an address to the C library, so never a name
        return (socket.inet_ntoa(socket.inet_aton(bare)),)
    except OSError as error:
        raise DnsFailed(f"{bare} is neither an address nor a name") from error


def _ask(
    host: str, port: int, timeout: float | None, slots: threading.BoundedSemaphore, done: threading.Event
) -> Sequence[str]:
    # The C library's look-up cannot be interrupted: it gets a thread of its own, which is left behind if it is late
    # and keeps its slot until it ends.
    answer: list[Sequence[str] | Exception] = []
    started = time.monotonic()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.append(tuple(dict.fromkeys(str(entry[4][0]) for entry in found)))
        except (OSError, UnicodeError) as error:
            answer.append(error)
        finally:
            slots.release()
            done.set()

    if not slots.acquire(timeout=timeout):
        raise DnsFailed(f"no look-up of {host} within {timeout:.0f} s: {_MOST_LOOKUPS} others have not ended")
    threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
    if not done.wait(None if timeout is None else max(timeout - (time.monotonic() - started), 0.0)):
        raise DnsFailed(f"no answer for {host} within {timeout:.0f} s")
    if not answer:
        raise DnsFailed(f"the look-up of {host} was given up")
    found = answer[0]
    if isinstance(found, Exception):
        raise DnsFailed(f"{host}: {found}")
    if not found:
        raise DnsFailed(f"{host} has no address")
    return found
