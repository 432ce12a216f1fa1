"""The house style of sql/, and that the check of it finds what it is for."""

from pathlib import Path

import pytest

from tools.sql_style import problems, problems_of_text, sql_files

GOOD = """\
-- Rows of a cycle.
-- Reads: observation.
-- Params: cycle, the day.
-- Grain: one row per observation.
SELECT url FROM observation WHERE cycle = $cycle
"""


@pytest.mark.parametrize("path", sql_files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_sql_file_keeps_the_house_style(path: Path) -> None:
    assert list(problems(path)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("-- Rows of a cycle.\n", ""), "does not start with a comment of one sentence"),
        (GOOD.replace("-- Reads: observation.\n", ""), "no line `-- Reads: ...`"),
        (GOOD.replace("-- Grain: one row per observation.\n", ""), "no line `-- Grain: ...`"),
        (GOOD.replace("cycle, the day", "none"), "says nothing of the parameters cycle"),
        (GOOD.replace("$cycle", "$cycle AND fetched_at < now()"), "calls now"),
        (GOOD.replace("$cycle", "$cycle AND cycle < current_date"), "calls current_date"),
        (GOOD.replace("$cycle", "$cycle ORDER BY random()"), "calls random"),
        (GOOD.replace("$cycle", "$cycle ORDER BY hash(url)"), "calls hash"),
        (GOOD.replace("$cycle", "'{{ ds }}'"), "holds a template"),
        (GOOD + "; SELECT 1", "holds 2 statements"),
        (GOOD.replace("FROM", "FORM"), "does not parse"),
        (GOOD + "\n" * 80, "more than 80 want a split"),
    ],
)
def test_a_breach_of_the_style_is_found(text: str, said: str) -> None:
    assert said in "; ".join(problems_of_text(text, kind="plan"))


def test_words_in_comments_strings_and_columns_are_no_calls() -> None:
    text = GOOD.replace("$cycle", "$cycle AND now > 0 AND url <> 'random()' -- not now(): it moves\n")
    assert list(problems_of_text(text, kind="plan")) == []
