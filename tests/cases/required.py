"""The rows of our copies of the files of cases, as tests of pytest."""

from typing import Any

import pytest

from tests.cases.facts import Row
from tests.cases.rows import argument_for, differences, our_rows


def each_row(name: str) -> Any:
    """Runs a test once for each row of our copy of the file `name`."""
    return pytest.mark.parametrize("row", our_rows(name), ids=lambda row: str(row["id"]))


def require(name: str, row: Row) -> None:
    """Fail unless the row is met; a row that we argue against may fail, one that is not run is skipped."""
    argument = argument_for(name, row)
    if argument is not None and not argument.run:
        pytest.skip(argument.reason)
    problems = differences(name, row)
    if problems and argument is not None:
        pytest.xfail(argument.reason)
    assert problems == [], row["why"]
