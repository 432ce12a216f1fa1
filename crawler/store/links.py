"""Links that arrive as columns, as rows of the table `link`: buffers become Arrow arrays without a dict a row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawler.core.columns import KINDS, NO_HINT, FoundLinks, LinkColumns, Texts
from crawler.core.keys import host_key
from crawler.store.tables import arrow_schema


def links_table(found: Sequence[FoundLinks], stamp: Mapping[str, Any]) -> pa.Table:
    """All links of `found` with the columns of `link`; stamp: the values that are the same in each row."""
    schema = arrow_schema("link")
    return pa.concat_tables([_table(each, stamp, schema) for each in found]) if found else schema.empty_table()


def _table(found: FoundLinks, stamp: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    links, count = found.links, len(found.links)
    page = pa.array(np.repeat(np.arange(len(found.sources), dtype=np.int32), links.counts))
    host = pa.array(links.hosts, pa.uint32())
    sources = {
        "source_url_key": [source.url_key for source in found.sources],
        "source_url": [source.url for source in found.sources],
        "source_depth": [source.depth for source in found.sources],
        "source_hops": [source.hops for source in found.sources],
        "found_at": [source.found_at for source in found.sources],
        "is_first": [source.is_first for source in found.sources],
        "announced_by": [source.announced_by for source in found.sources],
    }
    columns = {name: pa.array(values, schema.field(name).type).take(page) for name, values in sources.items()}
    kind = _named(KINDS, links.kinds)
    columns["announced_by"] = pc.if_else(pc.equal(kind, "index"), columns["announced_by"], None)
    columns |= {
        "kind": kind,
        "nofollow": pa.array(np.frombuffer(links.nofollow, np.bool_)),
        "target_url_key": _numbers(links.url_keys),
        "target_host_key": pa.array([host_key(name) for name in links.host_names], pa.uint64()).take(host),
        "target_url": _texts(links.urls),
        "target_fetch_url": _texts(links.fetch_urls),
        "target_host": pa.array(links.host_names, pa.string()).take(host),
        "target_pattern_key": _numbers(links.pattern_keys),
        "trap": _named([name or None for name in links.trap_names], links.traps),
        "lastmod": _hints(links.lastmods, np.int64, links).cast(pa.timestamp("s", "UTC")),
        "priority": _hints(links.priorities, np.float64, links),
    }
    columns |= {name: pa.repeat(pa.scalar(value, schema.field(name).type), count) for name, value in stamp.items()}
    return pa.Table.from_arrays([columns[field.name] for field in schema], schema=schema)


def _named(names: Sequence[str | None], places: bytes) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(np.frombuffer(places, np.uint8)))


def _hints(values: Any, kind: Any, links: LinkColumns) -> pa.Array:
    """What sitemaps say of some links as a column of all."""
    column = np.full(len(links), NO_HINT, kind)
    column[np.frombuffer(links.hinted, np.uint32)] = np.frombuffer(values, kind)
    return pa.array(column, mask=column == NO_HINT)


def _numbers(values: Any) -> pa.Array:
    return pa.array(np.frombuffer(values, np.uint64))


def _texts(texts: Texts) -> pa.Array:
    offsets = np.zeros(len(texts.lengths) + 1, np.int32)
    np.cumsum(np.frombuffer(texts.lengths, np.uint32), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts.joined)]
    return pa.Array.from_buffers(pa.string(), len(texts.lengths), buffers)
