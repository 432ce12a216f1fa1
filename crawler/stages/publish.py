"""Publish: let readers see a checked cycle, all of it at once.

Reads the newest check of the cycle; writes a publication that names its files (in the revision that a purge left), the
file of views and the summary that pages show. A bucket without a finished fetch is left out, or stays as an earlier
publication showed it.
"""

from dataclasses import replace
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CheckFailed, NotPlanned, StaleCheck
from crawler.store.lake import Lake
from crawler.store.manifest import CHECKS, PUBLICATIONS, Manifest, create, newest, renewed
from crawler.store.reader import write_views_file
from crawler.store.summary import write_summary


def run(lake: Lake, cycle: Cycle) -> dict[str, Any]:
    """Publish the newest check of `cycle`; returns the publication's number and what it leaves out.

    Raises CheckFailed if that check found broken promises, StaleCheck if a newer publication knows more.
    """
    checked = newest(lake, CHECKS, str(cycle))
    if checked is None:
        raise NotPlanned("publish", cycle, "a check")
    check_number, manifest = checked
    if manifest.violations:
        raise CheckFailed(str(cycle), f"check {check_number:04d} found {manifest.violations}")
    while True:
        before = newest(lake, PUBLICATIONS, str(cycle))
        number = before[0] + 1 if before else 1
        current = renewed(lake, _carried(before[1] if before else None, manifest))
        if create(lake, PUBLICATIONS, current, number):
            break
    write_views_file(lake)
    write_summary(lake, cycle, number)
    return {"number": number, "buckets": len(manifest.buckets), "failed": manifest.failed, **manifest.summary}


def _carried(before: Manifest | None, manifest: Manifest) -> Manifest:
    """The manifest, with the failed buckets as the publication `before` showed them."""
    if before is None:
        return manifest
    for bucket, files in before.buckets.items():
        if bucket in manifest.buckets and manifest.buckets[bucket].settled < files.settled:
            raise StaleCheck(manifest.cycle, bucket)
    missing = {bucket: files for bucket, files in before.buckets.items() if bucket not in manifest.buckets}
    return replace(
        manifest,
        buckets=dict(sorted({**manifest.buckets, **missing}.items())),
        copies=sorted({*before.copies, *manifest.copies}),
        plans=sorted({*before.plans, *manifest.plans}),
    )
