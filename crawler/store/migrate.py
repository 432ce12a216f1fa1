"""Migrations: what turns a lake of one schema version into the next.

Reads and writes the metadata; each migration rewrites what it must before the new version is announced, and may be
run again after a crash. The version is announced by a create-if-absent of the next metadata file.
"""

from collections.abc import Callable
from dataclasses import replace

from crawler.core.errors import CorruptLake, SchemaMismatch
from crawler.store.files import Files
from crawler.store.lake import SCHEMA_VERSION, read_metadata

# By the version that it starts from. Version 1 is the first, so there is none yet.
MIGRATIONS: dict[int, Callable[[Files], None]] = {}


def migrate(root: str, *, to_version: int = SCHEMA_VERSION) -> tuple[int, int]:
    """Bring the lake at `root` to `to_version`; returns the versions before and after.

    Raises NoLake, SchemaMismatch for a lake that is newer, CorruptLake for a version that there never was.
    """
    files = Files(root)
    metadata = read_metadata(files)
    before = metadata.schema_version
    if before > to_version:
        raise SchemaMismatch(files.root, before, to_version)
    while metadata.schema_version < to_version:
        if metadata.schema_version not in MIGRATIONS:
            raise CorruptLake(files.root, f"has schema version {metadata.schema_version}, which no Recrawl wrote")
        MIGRATIONS[metadata.schema_version](files)
        metadata = replace(metadata, schema_version=metadata.schema_version + 1)
        number = len(files.names("meta")) + 1
        files.create_bytes(metadata.to_json(), f"meta/{number:04d}.json")
    return before, metadata.schema_version
