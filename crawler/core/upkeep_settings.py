"""Settings of what upkeep merges and deletes.

The defaults lose nothing that a query, an explanation or a rerun can ask for but plans of more than a year ago.
"""

from pydantic import Field

from crawler.core.section import Section


class UpkeepSettings(Section):
    """What `recrawl upkeep` merges and deletes."""

    grace_hours: int = Field(
        default=72,
        ge=24,
        description="Hours that a file stays after it was replaced. Must be longer than any reader, export or fetch "
        "takes: one that still reads a deleted file ends with an error.",
    )
    merge_after_days: int = Field(
        default=35,
        ge=1,
        description="Days after the end of a month from which on its files of a table and bucket are merged into one. "
        "A cycle of a merged month may still be backfilled.",
    )
    merge_max_bytes: int = Field(
        default=4 << 30,
        ge=1,
        description="Bytes of the largest file that is merged. Months that come to more keep their files; a month is "
        "written once more when it is merged.",
    )
    checkpoints: int = Field(
        default=2,
        ge=1,
        description="Newest checkpoints of a bucket that are kept, besides those that readers still use. Each has all "
        "its known URLs; a state can be folded as of no instant before the oldest.",
    )
    plan_days: int = Field(
        default=400,
        ge=0,
        description="Days that a cycle's plan is kept: what was left out, and why. What was fetched is kept for ever. "
        "0: for ever. A cycle whose plan is gone cannot be run again.",
    )
    link_days: int = Field(
        default=0,
        ge=0,
        description="Days that the links of a cycle's pages are kept once all buckets have merged them. Without them "
        "`link` and the in-links that `recrawl explain` names begin later; nothing else reads them. 0: for ever.",
    )
    capture_days: int = Field(
        default=0,
        ge=0,
        description="Days that the body of a version is kept that its page does not say any more and no other page "
        "has. Most of a lake is bodies. 0: for ever, so that every version can be derived again.",
    )
