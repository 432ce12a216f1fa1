"""Check: whether the rows of a cycle keep the promises, before any reader sees them.

Reads the files that make up the cycle now; writes a manifest that names them with what was found. A failing check
stops publish; the rows stay in the lake.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CheckFailed
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.manifest import CHECKS, Manifest, create, gather, newest

_VIEWS = {
    "cycle_observation": "observation",
    "cycle_robots": "robots",
    "cycle_capture": "capture",
}


def run(lake: Lake, cycle: Cycle) -> dict[str, Any]:
    """Check `cycle`.

    Returns the number of the check, the buckets without a finished fetch (`failed`), what lags behind (`lagging`) and
    the warnings. Raises CheckFailed if rows break a promise.
    """
    manifest = gather(lake, cycle)
    _examine(lake, manifest)
    number = 1
    before = newest(lake, CHECKS, str(cycle))
    if before:
        number = before[0] + 1
    while not create(lake, CHECKS, manifest, number):
        number += 1
    if manifest.violations:
        found = ", ".join(f"{name} has {rows} rows" for name, rows in sorted(manifest.violations.items()))
        raise CheckFailed(str(cycle), f"{found} (check {number:04d})")
    return {
        "number": number,
        "failed": manifest.failed,
        "lagging": manifest.lagging,
        "warnings": manifest.warnings,
    }


def _examine(lake: Lake, manifest: Manifest) -> None:
    """Run every check of sql/checks over the manifest's files and note what each finds in the manifest."""
    con = lake.connect()
    for view, table in _VIEWS.items():
        names = [name for files in manifest.buckets.values() for name in files.files.get(table, [])]
        query.view_files(con, view, table, _paths(lake, names), cycle=manifest.cycle)
    query.view_files(con, "cycle_copy", "copy", _paths(lake, manifest.copies), cycle=manifest.cycle)
    query.view_files(con, "cycle_plan", "plan", _paths(lake, manifest.plans))
    query.view_files(con, "cycle_admitted", "admitted", _paths(lake, [manifest.admitted] if manifest.plans else []))
    for name, text in query.scripts("checks"):
        found = len(query.run(con, f"checks/{name}").fetchall())
        if found:
            severity = manifest.violations if text.startswith("-- fail:") else manifest.warnings
            severity[name] = found
    manifest.summary.update(query.rows(query.run(con, "publish/summary"))[0])


def _paths(lake: Lake, names: list[str]) -> list[str]:
    return [lake.files.path(f"{lake.layout}/{name}") for name in names]
