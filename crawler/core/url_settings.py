"""Settings that decide which URLs are one page. Read and frozen like all others, see `crawler.core.config`."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from crawler.core.section import Section

_NAME = re.compile(r"[^\s=&#*]+\*?|\*")


def _parameter(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no parameter's name: it has no space, `=`, `&`, `#`, and a `*` only at its end")
    return name


Parameter = Annotated[str, AfterValidator(_parameter)]


class UrlSettings(Section):
    """Which query parameters are part of a URL's identity, on all hosts.

    A list of known tracking and session parameters is dropped without any setting; `recrawl explain --url` names what
    changed a URL. Changing a rule merges or parts URLs that are known already, see docs/operating.md.
    """

    keep_parameters: tuple[Parameter, ...] = Field(
        default=(),
        description="Names that stay although they are on the list, e.g. `utm_id`, or `utm_*` for all that begin so; "
        "letter case is ignored. What names a session is then one page for every visit.",
    )
    drop_parameters: tuple[Parameter, ...] = Field(
        default=(),
        description="Names that are dropped as well, written likewise. URLs that differ in nothing else become one, "
        "and only the first of them that is found is fetched: a name that selects content loses pages.",
    )


class HostUrlSettings(UrlSettings):
    """The same for one host, which wins over `urls`, and what its paths mean."""

    keep_parameters: tuple[Parameter, ...] = Field(
        default=(),
        description="Query parameters of this host that are part of a URL's identity, whatever else says they are not; "
        'wins over drop_parameters: `drop_parameters = ["*"]` with `keep_parameters = ["id", "page"]` drops all '
        "but two.",
        examples=[["sid", "view_*"]],
    )
    drop_parameters: tuple[Parameter, ...] = Field(
        default=(),
        description="Query parameters of this host that are dropped from the identity, as `urls.drop_parameters`.",
        examples=[["ref", "sort_*"]],
    )
    ignore_path_case: bool = Field(
        default=False,
        description="Whether ASCII letters of this host's paths are the same in upper and lower case, as on many "
        "Windows servers. Where they are not, one of two pages is lost.",
        examples=[True],
    )
    trailing_slash: Literal["keep", "add", "drop"] = Field(
        default="keep",
        description="Whether `/a` and `/a/` are one page of this host, and which spelling is its identity: `keep` (two "
        "pages), `add` (`/a/`; a last segment with a dot is a file and gets none) or `drop` (`/a`). What is requested "
        "is the spelling that was found.",
        examples=["add"],
    )
