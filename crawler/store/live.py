"""How far running fetches are: one small file a bucket, `layout=L/progress/bucket=BBBB.json`, written over and over.

No table and no truth: nothing but pages and bars reads it, it says nothing that the log will not, and it goes when its
fetch ends. What a killed fetch has left is known by its epoch and not shown.
"""

import contextlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crawler.core.progress import Progress
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import Lease, Owner

LIVE = "progress"


@dataclass(frozen=True, slots=True)
class Live:
    """What the owner of a bucket said of its fetch for `cycle` at the ISO instant `at`."""

    bucket: int
    cycle: str
    epoch: int
    at: str
    progress: Progress

    def to_dict(self) -> dict[str, Any]:
        return {"at": self.at, **self.progress.to_dict()}


class LiveProgress:
    """The file of one fetch; a context manager that removes it at the end."""

    def __init__(self, lake: Lake, owner: Owner) -> None:
        self._lake = lake
        self._owner = owner
        self._name = f"{lake.layout}/{LIVE}/{owner.partition}.json"

    def __enter__(self) -> "LiveProgress":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._lake.files.delete(self._name)

    def write(self, progress: Progress) -> None:
        """Say how far the fetch is; a reader sees this or what was said before, whole."""
        said = {
            "cycle": str(self._owner.cycle),
            "epoch": self._owner.epoch,
            "at": self._lake.clock.now().isoformat(timespec="seconds"),
            "progress": progress.to_dict(),
        }
        self._lake.files.overwrite(json.dumps(said).encode(), self._name)


def running(lake: Lake) -> list[Live]:
    """What the fetches say that run at this moment, by bucket."""
    found = []
    for bucket in range(lake.buckets):
        lease, holder = lake.ownership("bucket", bucket)
        live = read_live(lake, bucket, lease) if holder is not None else None
        if live is not None:
            found.append(live)
    return found


def read_live(lake: Lake, bucket: int, lease: Lease) -> Live | None:
    """What the fetch of the lease says; None if it says nothing yet, or if what is there is of another epoch."""
    name = f"{lake.layout}/{LIVE}/{partition_name('bucket', bucket)}.json"
    try:
        said = json.loads(lake.files.read(name))
        at = datetime.fromisoformat(said["at"]).isoformat(timespec="seconds")
        live = Live(bucket, said["cycle"], said["epoch"], at, Progress.from_dict(said["progress"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return live if live.epoch == lease.epoch and live.cycle == lease.cycle else None
