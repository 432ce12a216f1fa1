"""Names and passwords in URLs, kept out of all that is shown, logged or written."""

import re

from crawler.core.urls import Reject, locate

HIDDEN = "***"
"""What stands for the name and password of a URL."""

# What WHATWG leaves out: C0 controls and spaces at both ends, tabs and line ends anywhere.
_ENDS = "".join(map(chr, range(0x21)))
_ANYWHERE = str.maketrans("", "", "\t\n\r")
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)")


def authority(text: str) -> re.Match[str] | None:
    """What stands before the authority of a URL or reference, and the authority; None if it begins with neither."""
    return _AUTHORITY.match(text.strip(_ENDS).translate(_ANYWHERE))


def without_userinfo(text: str) -> str:
    """`text` to be shown or stored: what may be a name and password before its host is hidden, in any spelling."""
    found = authority(text) if "@" in text else None
    if found is None:
        return text
    plain = found.string
    _, at, host = found[2].rpartition("@")
    if at:
        return f"{found[1]}{HIDDEN}@{host}{plain[found.end() :]}"
    if "@" in plain and isinstance(locate(plain, None), Reject):
        # A slash in a password ends the host too early: all before the last @ may be one.
        return f"{found[1]}{HIDDEN}@{plain.rpartition('@')[2]}"
    return text
