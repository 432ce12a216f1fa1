"""`recrawl explain --url`: the way to an identity without a lake, under the settings that are there."""

import json
from pathlib import Path

from tests.command import CONTACT, Recrawl, is_refused, write_settings


def test_the_steps_of_a_url_are_shown_without_a_lake(recrawl: Recrawl) -> None:
    ended = recrawl("explain", "--url", "HTTPS://u:s3cr3t@Example.com:443/%7ea?b=1&utm_source=x&a=2#top", "--json")
    assert ended.code == 0
    assert "no settings here" in ended.err
    found = json.loads(ended.out)
    assert found["url"] == "https://example.com/~a?a=2&b=1"
    assert found["fetch_url"] == "https://example.com/%7ea?b=1&utm_source=x&a=2"
    names = [step["name"] for step in found["steps"]]
    assert names == ["parse", "host", "port", "userinfo", "fragment", "escapes", "parameters", "sort"]
    assert found["steps"][6]["why"] == "utm_source by dropped_parameters.txt query utm_*"
    assert "s3cr3t" not in ended.out + ended.err


def test_the_rules_of_the_settings_are_named(recrawl: Recrawl, tmp_path: Path) -> None:
    write_settings(tmp_path, f'[crawl]\n{CONTACT}\n[host."example.com"]\ndrop_parameters = ["ref"]')
    ended = recrawl("explain", "--url", "https://example.com/?ref=1")
    assert (ended.code, ended.err) == (0, "")
    assert 'ref by host."example.com".drop_parameters ref' in " ".join(ended.out.split())


def test_a_text_that_is_no_url_has_a_reason(recrawl: Recrawl) -> None:
    found = json.loads(recrawl("explain", "--url", "mailto:joe@example.com", "--json").out)
    assert (found["url"], found["reject"]) == (None, "bad_scheme")
    assert "none: bad_url" in recrawl("explain", "--url", "http://u:s3cr3t@a b/").out


def test_a_text_in_bytes_that_are_no_text_is_shown_all_the_same(recrawl: Recrawl) -> None:
    for as_json in ([], ["--json"]):
        ended = recrawl("explain", "--url", "https://example.com/\udce9\x1b[31m", *as_json)
        assert ended.code == 0
        assert "\x1b" not in ended.out


def test_explain_wants_one_of_two(recrawl: Recrawl) -> None:
    is_refused(recrawl("explain"), "explain takes a URL or --url")
    is_refused(
        recrawl("explain", "https://example.com/", "--url", "https://example.com/"), "explain takes a URL or --url"
    )


def test_a_refused_url_is_said_without_its_password(recrawl: Recrawl) -> None:
    assert recrawl("init").code == 0
    for command in ("explain", "purge", "hold"):
        ended = recrawl(command, "http://u:s3cr3t@a b/", *(["--yes"] if command == "purge" else []))
        assert ended.code == 2
        assert "s3cr3t" not in ended.out + ended.err
        assert "***@" in ended.err
