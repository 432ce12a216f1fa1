"""Room for a cycle: looked for before anything of it is planned, since a full disk stops every bucket half-way.

Reads the newest publication and file sizes. Writes nothing.
"""

from crawler.core.cycle import Cycle
from crawler.core.errors import DiskNearlyFull
from crawler.store.admission import read_admission
from crawler.store.lake import Lake
from crawler.store.manifest import PUBLICATIONS, newest
from crawler.store.state import PARTS, checkpoint_name


def require_space(lake: Lake, cycle: Cycle) -> None:
    """Raise DiskNearlyFull if `cycle` cannot be expected to fit; one that is admitted already may always go on."""
    if read_admission(lake, cycle) is not None:
        return
    needed, free = needed_bytes(lake), lake.files.free_bytes()
    if free < needed:
        raise DiskNearlyFull(lake.files.root, str(cycle), free, needed)


def needed_bytes(lake: Lake) -> int:
    """The free bytes that the next cycle wants: the setting, else what the newest published cycle came to.

    Twice what that cycle's files hold, because fetch writes segments and then all of them in one file, and once more
    its checkpoints, which the next ones stand beside.
    """
    if lake.settings.lake.min_free_bytes:
        return lake.settings.lake.min_free_bytes
    days = lake.files.folders(PUBLICATIONS)
    found = newest(lake, PUBLICATIONS, days[-1].removeprefix("cycle=")) if days else None
    if found is None:
        return 0
    manifest = found[1]
    names = {*manifest.copies, *manifest.plans, manifest.admitted}
    checkpoints: set[str] = set()
    for bucket, files in manifest.buckets.items():
        names.update(name for each in files.files.values() for name in each)
        if files.checkpoint:
            checkpoints.update(checkpoint_name(lake, bucket, files.checkpoint, part) for part in PARTS)
    written = sum(lake.files.size(f"{lake.layout}/{name}") for name in names)
    return 2 * written + sum(map(lake.files.size, checkpoints))
