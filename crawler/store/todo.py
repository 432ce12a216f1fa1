"""What a fetch has to ask for, kept as columns: a plan of 100,000 URLs takes a fifth of the memory of its objects."""

from collections.abc import Iterator, Sequence
from typing import overload

import pyarrow as pa

from crawler.core.model import Target

_PART = 1024


class Todo(Sequence[Target]):
    """Targets that are made when they are asked for. columns: as `sql/fetch/todo.sql` gives them."""

    def __init__(self, columns: pa.Table) -> None:
        self._columns = columns.combine_chunks()

    def __len__(self) -> int:
        return int(self._columns.num_rows)

    @overload
    def __getitem__(self, place: int) -> Target: ...
    @overload
    def __getitem__(self, place: slice) -> list[Target]: ...
    def __getitem__(self, place: int | slice) -> Target | list[Target]:
        """The target at a place, or those of a range without steps."""
        if isinstance(place, int):
            return self._made(range(len(self))[place], 1)[0]
        start, stop, _ = place.indices(len(self))
        return self._made(start, max(stop - start, 0))

    def __iter__(self) -> Iterator[Target]:
        for start in range(0, len(self), _PART):
            yield from self._made(start, _PART)

    def _made(self, start: int, count: int) -> list[Target]:
        rows = zip(*(column.to_pylist() for column in self._columns.slice(start, count).columns), strict=True)
        return [
            Target(url_key, host_key, url, fetch_url or url, *rest) for url_key, host_key, url, fetch_url, *rest in rows
        ]
