"""`python -m tests.cases DIR` on a folder that it has never seen."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = {"html": {"title": "A", "words": [120, 1]}}


def run(folder: Path) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cases", str(folder)], cwd=ROOT, text=True, capture_output=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def write(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps({"why": "", **row}) + "\n" for row in rows))


def script(identity: str, expected: dict[str, Any], **parts: Any) -> dict[str, Any]:
    script = {"servers": {"a.test": {}}, "plan": ["http://a.test/x"]} | parts
    return {"id": identity, "kind": "script", "script": script, "expected": expected}


def test_rows_that_are_not_met_get_a_line_each_and_the_last_line_counts(tmp_path: Path) -> None:
    routes = {"http://a.test/x": [{"body": PAGE}]}
    write(
        tmp_path,
        "http.jsonl",
        script("met", {"outcomes": [["ok"]], "requests": {"http://a.test/x": 1}}, routes=routes),
        script("unmet", {"outcomes": [["gone"]], "requests": {"http://a.test/x": 2}}, routes=routes),
        {"id": "odd", "kind": "dance", "expected": {}},
    )
    write(tmp_path, "urls.jsonl", {"id": "u", "input": {"url": "HTTP://A.test"}, "expected": "http://a.test/"})
    code, lines = run(tmp_path)
    assert code == 1
    assert [line.split(":")[0] for line in lines[:-1]] == ["http.jsonl unmet", "http.jsonl odd"]
    assert "outcome ok, accepted ['gone']; 1 requests of http://a.test/x, expected 2" in lines[0]
    assert lines[-1] == "2 passed, 2 failed"


def test_a_folder_whose_rows_are_all_met_ends_well(tmp_path: Path) -> None:
    page = {"etag": '"v1"', "body": None, "ago_s": 86400}
    routes = {"http://a.test/x": [{"match": {"If-None-Match": True}, "status": 304}, {"body": PAGE}]}
    robots = {"concat": ["User-agent: other\n", {"repeat": ["# padding\n", 99]}, "Disallow: /\n"]}
    agent = {"user_agent": "other/2 (+http://o.test/)"}
    late = [{"status": 429, "headers": [["Retry-After", {"http_date": 120}]]}]
    again = ["http://a.test/x", {"url": "http://a.test/x", "cycle": 1}]
    write(
        tmp_path,
        "http.jsonl",
        script(
            "a body that was lost", {"outcomes": [["ok"]]}, prior={"pages": {"http://a.test/x": page}}, routes=routes
        ),
        script("a robots.txt by recipe", {"outcomes": [["denied_by_robots"]]}, robots=robots, settings=agent),
        script("a date", {"held_host_s": {"a.test": {"min": 118, "max": 125}}}, routes={"http://a.test/x": late}),
        script("a day later", {"requests": {"http://a.test/robots.txt": 2}}, plan=again),
    )
    assert run(tmp_path) == (0, ["4 passed, 0 failed"])


def test_a_folder_without_cases_is_said(tmp_path: Path) -> None:
    assert run(tmp_path) == (2, [])
