"""Wrong settings: the error names what was found, what is known, and ends a command with exit code 2."""

import re
import tomllib
import traceback

import pytest

from crawler.core.config import CrawlSettings, Settings, load_settings, parse_settings
from crawler.core.errors import BadSettings, NoContact
from crawler.core.settings_text import sections, settings_file


def problem_of(tables: dict[str, object]) -> str:
    with pytest.raises(BadSettings) as caught:
        parse_settings(tables, where="recrawl.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("tables", "nearest"),
    [
        ({"crawl": {"user_agnt": "x"}}, "crawl.user_agent"),
        ({"crwl": {}}, "crawl"),
        ({"polite": {"delay_seconds": 1}}, "politeness"),
        ({"host": {"example.org": {"delay_secnds": 3}}}, 'host."example.org".delay_seconds'),
        ({"host": {"localhost": {"max_url": 3}}}, "host.localhost.max_urls"),
        ({"host": {"example.org": {"budget_url": 3}}}, "plan.budget_urls"),
        ({"scope": {"rules": [{"allow": "/"}, {"alow": "/x"}]}}, "scope.rules.1.allow"),
        ({"fetch": {"delay_seconds": 3}}, "politeness.delay_seconds"),
        ({"budget_urls": 3}, "plan.budget_urls"),
        ({"plan": {"weights": [{"wieght": 2}]}}, "plan.weights.0.weight"),
        ({"plan": {"intervals": [{"max_day": 2}]}}, "plan.intervals.0.max_days"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(tables: dict[str, object], nearest: str) -> None:
    assert problem_of(tables).endswith(f"Did you mean {nearest}?")


def test_an_unknown_key_that_resembles_none_lists_the_keys_of_its_table() -> None:
    assert problem_of({"plan": {"zzz": 1}}).endswith("Known keys there: " + ", ".join(Settings().plan.model_dump()))
    assert "crawl, lake, scope" in problem_of({"zzz": 1})


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"lake": {"buckets": 3}}, "lake.buckets = 3: is no power of two"),
        ({"politeness": {"robots_absent_days": 7}}, "politeness.robots_absent_days = 7: is less than the 30 days"),
        ({"lake": {"buckets": 0}}, "lake.buckets = 0"),
        ({"fetch": {"threads": "many"}}, "fetch.threads = 'many'"),
        ({"fetch": {"window_hours": 25}}, "fetch.window_hours = 25"),
        ({"fetch": {"allow_private": ["10.0.0.0/99"]}}, "does not appear to be an IPv4 or IPv6 network"),
        ({"politeness": {"robots_max_age_seconds": 100_000}}, "politeness.robots_max_age_seconds = 100000"),
        ({"politeness": {"delay_seconds": -1}}, "politeness.delay_seconds = -1"),
        ({"scope": {"rules": [{"allow": "/a", "deny": "/b"}]}}, "needs exactly one of allow and deny"),
        ({"scope": {"rules": [{"deny": "private"}]}}, "starts with neither"),
        ({"plan": {"budget_bytes": -1}}, "plan.budget_bytes = -1"),
        ({"plan": {"new_share": 1.5}}, "plan.new_share = 1.5: Input should be less than or equal to 1"),
        ({"plan": {"objective": "speed"}}, "plan.objective = 'speed': Input should be 'freshness' or 'age'"),
        ({"plan": {"recheck_seeds_days": float("nan")}}, "plan.recheck_seeds_days = nan"),
        ({"plan": {"weights": [{"weight": 0}]}}, "plan.weights.0.weight = 0: Input should be greater than 0"),
        ({"plan": {"weights": [{"weight": float("inf")}]}}, "plan.weights.0.weight = inf"),
        ({"plan": {"weights": [{"host": "example.org"}]}}, "plan.weights.0.weight: Field required"),
        ({"plan": {"weights": [{"weight": 2, "path": "news"}]}}, "plan.weights.0.path = 'news': pattern 'news' starts"),
        ({"plan": {"weights": [{"weight": 2, "host": "a.test:80"}]}}, "'a.test:80' is no host; expected `example.org`"),
        ({"plan": {"weights": [{"weight": 2, "min_depth": 3, "max_depth": 2}]}}, "max_depth 2 below min_depth 3"),
        ({"plan": {"intervals": [{"host": "a.test"}]}}, "plan.intervals.0: needs min_days, max_days or both"),
        ({"plan": {"intervals": [{"min_days": 9, "max_days": 2}]}}, "has max_days 2 below min_days 9"),
        ({"host": {"a.test": {"blackout": ["22-6"]}}}, "'22-6' is no time of the day; expected HH:MM-HH:MM in UTC"),
        ({"host": {"a.test": {"blackout": ["24:00-06:00"]}}}, "'24:00-06:00' is no time of the day"),
        ({"host": {"a.test": {"blackout": ["06:00-06:00"]}}}, "'06:00-06:00' is empty; `recrawl hold HOST`"),
        ({"host": {"a.test": {"blackout": ["05:00-17:00", "16:59-05:00"]}}}, "leaves no minute of the day"),
        ({"crawl": "mybot"}, "crawl = 'mybot': is no table"),
        ({"host": {"example.org": 3}}, 'host."example.org" = 3: is no table'),
    ],
)
def test_a_bad_value_is_named_with_its_key(tables: dict[str, object], said: str) -> None:
    message = problem_of(tables)
    assert said in message
    assert message.startswith("settings recrawl.toml: ")


def test_a_variable_wins_over_the_file_and_is_blamed_when_it_is_wrong(tmp_path) -> None:
    file = tmp_path / "recrawl.toml"
    file.write_text("[plan]\nbudget_urls = 1\n")
    assert load_settings(file, {"RECRAWL_PLAN__BUDGET_URLS": "7"}).plan.budget_urls == 7
    assert load_settings(file, {"RECRAWL_SETTINGS": "elsewhere.toml", "HOME": "/"}).plan.budget_urls == 1
    assert load_settings(file, {"RECRAWL_CRAWL__USER_AGENT": "mybot/1.0 (+https://example.org)"}).crawl.user_agent
    with pytest.raises(BadSettings, match=r"with RECRAWL_PLAN__BUDGET_URLS: plan.budget_urls = 'lots'"):
        load_settings(file, {"RECRAWL_PLAN__BUDGET_URLS": "lots"})
    with pytest.raises(BadSettings, match=r"RECRAWL_PLAN__BUDGET: .* Did you mean plan.budget_urls"):
        load_settings(file, {"RECRAWL_PLAN__BUDGET": "7"})


def test_a_variable_over_a_table_that_is_none_blames_the_file(tmp_path) -> None:
    file = tmp_path / "recrawl.toml"
    file.write_text("plan = 3\n")
    with pytest.raises(BadSettings, match=r"plan = 3: is no table"):
        load_settings(file, {"RECRAWL_PLAN__BUDGET_URLS": "7"})


@pytest.mark.parametrize("content", [b"[crawl\n", b"\xff\xfe", b"[crawl]\na = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_a_clear_error(tmp_path, content: bytes) -> None:
    file = tmp_path / "recrawl.toml"
    file.write_bytes(content)
    with pytest.raises(BadSettings, match="Correct the file; it is TOML"):
        load_settings(file, {})


def test_a_missing_file_says_how_to_get_one(tmp_path) -> None:
    with pytest.raises(BadSettings, match=r"there is no such file\. Run `recrawl init`"):
        load_settings(tmp_path / "recrawl.toml", {})


def test_paths_are_relative_to_the_file(tmp_path) -> None:
    file = tmp_path / "recrawl.toml"
    file.write_text('[lake]\nroot = "pages"\n[clock]\nsimulated = "clock.json"\n')
    settings = load_settings(file, {})
    assert settings.lake.root == str(tmp_path / "pages")
    assert settings.clock.simulated == str(tmp_path / "clock.json")


@pytest.mark.parametrize("agent", ["", "mybot/1.0", "mybot/1.0 (see our site)", "(+https://example.org)"])
def test_a_user_agent_without_token_or_contact_is_refused(agent: str) -> None:
    with pytest.raises(NoContact, match="names no contact"):
        parse_settings({"crawl": {"user_agent": agent}}).require_contact()


@pytest.mark.parametrize("agent", ["mybot/1.0 (+https://example.org/bot)", "mybot (bot@example.org)"])
def test_a_user_agent_with_a_contact_is_accepted(agent: str) -> None:
    parse_settings({"crawl": {"user_agent": agent}}).require_contact()


def test_the_written_file_shows_every_key_with_its_default() -> None:
    uncommented = re.sub(r"(?m)^#(?=[a-z_\[])", "", settings_file(user_agent="mybot"))
    read = parse_settings(tomllib.loads(uncommented))
    assert set(read.host) == {"example.org"}
    assert read.model_copy(update={"host": {}, "crawl": CrawlSettings()}) == Settings()


def test_every_key_has_a_meaning() -> None:
    assert [f"{heading}.{key.name}" for heading, _, keys in sections() for key in keys if not key.meaning] == []


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"host": {"a.test": {"credentials": "joe:hunter2"}}}, "expected env:NAME or airflow:CONN_ID"),
        ({"host": {"a.test": {"headers": {"Authorization": "Bearer hunter2"}}}}, "expected a reference like env:NAME"),
        ({"host": {"a.test": {"headers": {"cookie": "s=hunter2"}}}}, "expected a reference like env:NAME"),
        ({"host": {"a.test": {"headers": {"X-Key": "env:hunter2 x"}}}}, "is no reference"),
        ({"host": {"a.test": {"headers": {"X-Key": "hunter2\r\nHost: b.test"}}}}, "no header may hold"),
        ({"host": {"a.test": {"proxy": "http://joe:hunter2@p.test:3128"}}}, "proxy_credentials"),
        ({"fetch": {"proxy": "http://joe:hunter2@p.test:3128"}}, "proxy_credentials"),
        ({"fetch": {"proxy_credentials": "joe:hunter2"}}, "expected env:NAME or airflow:CONN_ID"),
        ({"host": {"a.test": {"credentials": ["hunter2"]}}}, "credentials"),
    ],
)
def test_a_secret_in_the_place_of_a_reference_is_refused_and_not_repeated(tables: dict[str, object], said: str) -> None:
    with pytest.raises(BadSettings) as caught:
        parse_settings(tables, where="recrawl.toml")
    assert said in str(caught.value)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"proxy": "https://p.test:3128"}, "is no proxy; expected http://HOST:PORT"),
        ({"proxy": "http://p.test"}, "is no proxy; expected http://HOST:PORT"),
        ({"proxy": "http://[::1"}, "is no proxy; expected http://HOST:PORT"),
        ({"proxy": "direct", "proxy_credentials": "env:X"}, "without a proxy of its own"),
        ({"headers": {"User-Agent": "other/1.0"}}, "header User-Agent is set by the crawler itself"),
        ({"headers": {"Proxy-Authorization": "env:X"}}, "is set by the crawler itself"),
        ({"headers": {"Accept Language": "de"}}, "is no header's name"),
        ({"headers": {"x-a": "1", "X-A": "2"}}, "a header is set twice"),
        ({"headers": {"authorization": "env:X"}, "credentials": "env:Y"}, "both credentials and a header"),
        ({"secret_origins": ["a.test"]}, "is no origin"),
        ({"secret_origins": ["https://b.test"]}, "which is another host"),
        ({"connections": 0}, "greater than or equal to 1"),
        ({"connections": 65}, "less than or equal to 64"),
        ({"prefixes": {"docs/": 1}}, "'docs/' does not start with `/`"),
        ({"prefixes": {"/docs/": 0}}, "share 0 of '/docs/' is less than 1"),
    ],
)
def test_what_a_host_cannot_have_is_refused(own: dict[str, object], said: str) -> None:
    assert said in problem_of({"host": {"a.test": own}})
