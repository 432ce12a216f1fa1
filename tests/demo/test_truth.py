"""What the demo web follows from, and how it changes: pure functions, no server."""

import math
import subprocess
import sys
from bisect import bisect_right
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from simhash import Simhash
from xxhash import xxh3_64_digest, xxh3_64_hexdigest

from crawler.demo.dice import DAY_SECONDS, PoissonProcess
from crawler.demo.hosts import ENDLESS
from crawler.demo.pages import Kind
from crawler.demo.render import page_bytes
from crawler.demo.site import Plan, Site, State
from crawler.demo.truth import Truth
from tests.demo.conftest import START

PLAN = Plan(seed=7, start=START, port=8080)
SMALL = Plan(seed=7, start=START, port=8080, hosts=28, pages=600)
LATER = START + timedelta(days=100)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth(PLAN)


def digest(plan: Plan) -> str:
    site = Site(plan)
    instants = (START, START + timedelta(days=2), LATER)
    bodies = [page_bytes(site, page, site.state(page, instant)) for page in site.pages.values() for instant in instants]
    return xxh3_64_hexdigest(b"".join(bodies))


def test_a_plan_gives_the_same_web_in_another_process_whatever_is_asked_first() -> None:
    code = (
        "from tests.demo.test_truth import *\n"
        "site = Site(SMALL)\n"
        "for page in reversed(list(site.pages.values())): site.state(page, LATER)\n"
        "print(digest(SMALL))"
    )
    root = Path(__file__).parents[2]
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert other.stdout.strip() == digest(SMALL)


def test_another_seed_gives_other_pages_on_as_many_hosts() -> None:
    one, other = Truth(SMALL), Truth(Plan(seed=8, start=START, port=8080, hosts=28, pages=600))
    assert len(one.site.hosts) == len(other.site.hosts) == 28 + len(ENDLESS)
    assert len(set(one.urls()) & set(other.urls())) < 40  # the fronts of the hosts that play a role, and a few more


def test_sizes_sum_to_the_pages_asked_for() -> None:
    for hosts, pages in ((28, 336), (64, 3200), (100, 9000)):
        site = Site(Plan(seed=3, start=START, port=80, hosts=hosts, pages=pages))
        assert sum(host.size for host in site.hosts.values()) == pages
        assert min(host.size for host in site.hosts.values() if not host.is_endless) >= 3


def test_pages_change_from_several_times_a_day_to_never(truth: Truth) -> None:
    rates = [truth.changes_per_day(url) for url in truth.urls()]
    shares = [
        sum(low <= rate < high for rate in rates) / len(rates)
        for low, high in ((0, 1e-9), (1e-9, 0.1), (0.1, 0.99), (0.99, 3), (3, 7))
    ]
    assert sum(shares) == pytest.approx(1)
    assert all(share > 0.02 for share in shares), shares
    assert shares[0] == pytest.approx(0.18, abs=0.04)  # a fifth of all but the fronts and sections


def test_counts_of_changes_follow_a_poisson_law_with_the_known_rates(truth: Truth) -> None:
    days = 60
    until = START + timedelta(days=days)
    found, expected, spread, cases = 0, 0.0, 0.0, 0
    for page in truth.site.pages.values():
        mean = page.per_day * days
        if truth.site.hosts[page.host].mirror_of or page.kind == Kind.PRINT or mean == 0:
            continue
        count = truth.site.process(page).count(until)
        found, expected = found + count, expected + mean
        if mean >= 2:
            spread, cases = spread + (count - mean) ** 2 / mean, cases + 1
    assert abs(found - expected) < 4 * math.sqrt(expected)
    # A Poisson count varies as much as its mean; the mean of n such ratios has a standard error of about sqrt(2 / n).
    assert abs(spread / cases - 1) < 5 * math.sqrt(2.5 / cases)


def test_gaps_between_changes_are_exponential() -> None:
    process = PoissonProcess("some page", 4.0, START)
    changes = process.between(START, START + timedelta(days=2000))
    gaps = sorted((b - a).total_seconds() * 4 / DAY_SECONDS for a, b in pairwise(changes))
    distance = max(abs((1 - math.exp(-gap)) - (i + 0.5) / len(gaps)) for i, gap in enumerate(gaps))
    assert distance < 1.63 / math.sqrt(len(gaps))  # Kolmogorov and Smirnov, one per cent
    assert len(set(changes)) == len(changes)
    assert all(change.microsecond == 0 for change in changes)


def test_versions_count_the_changes_and_changed_between_compares_them(truth: Truth) -> None:
    url = max(truth.urls(START), key=truth.changes_per_day)
    changes = truth.changes(url, START, LATER)
    assert len(changes) > 200
    assert truth.version_at(url, START) == 0
    assert truth.version_at(url, START - timedelta(days=900)) == 0
    for hours in range(0, 2400, 37):
        instant = START + timedelta(hours=hours)
        assert truth.version_at(url, instant) == bisect_right(changes, instant)
    one, two = changes[10:12]
    second = timedelta(seconds=1)
    assert truth.changed_between(url, one - second, one)
    assert not truth.changed_between(url, one, two - second)
    assert truth.changed_between(url, one, two)


def test_a_birth_and_an_end_are_changes_of_what_is_true(truth: Truth) -> None:
    born = next(page for page in truth.site.pages.values() if page.born)
    url, instant = truth.site.url(born.host, born.path), born.born
    assert instant
    second = timedelta(seconds=1)
    assert truth.version_at(url, instant - second) is None
    assert truth.changed_between(url, instant - second, instant)
    assert (truth.status_at(url, instant - second), truth.status_at(url, instant)) == (404, 200)
    ended = next(page for page in truth.site.pages.values() if page.ends)
    url, instant = truth.site.url(ended.host, ended.path), ended.ends
    assert instant
    assert truth.changed_between(url, instant - second, instant)
    assert (truth.status_at(url, instant - second), truth.status_at(url, instant)) == (200, 410)


def test_a_section_changes_when_one_of_its_articles_is_born(truth: Truth) -> None:
    born = next(page for page in truth.site.pages.values() if page.born)
    section = truth.site.url(born.host, born.section)
    assert born.born
    assert born.born in truth.changes(section, START, LATER)


def test_the_truth_takes_a_url_in_any_spelling_that_the_server_takes(truth: Truth) -> None:
    site = truth.site
    page = site.articles["sessions.demo.test"][3]
    spelled = f"http://SESSIONS.demo.test:8080{page.path}&PHPSESSID=00ff&utm_source=x#more"
    assert truth.version_at(spelled, LATER) == truth.version_at(site.url(page.host, page.path), LATER)
    for stranger in ("http://other.test:8080/", "http://hub.demo.test/", "http://hub.demo.test:8080/no"):
        assert truth.version_at(stranger, LATER) is None
        assert not truth.changed_between(stranger, START, LATER)
        assert truth.original(stranger) is None


def test_every_edit_gives_a_new_text_that_is_close_to_the_last(truth: Truth) -> None:
    site = truth.site
    page = site.articles["hub.demo.test"][0]
    bodies = [page_bytes(site, page, State(edits, 0)) for edits in range(300)]
    assert len(set(bodies)) == 300

    def fingerprint(body: bytes) -> int:
        words = body.decode().split()
        pairs = [" ".join(pair) for pair in pairwise(words)]
        return int(Simhash(pairs, hashfunc=xxh3_64_digest).value)

    near = [(fingerprint(a) ^ fingerprint(b)).bit_count() for a, b in pairwise(bodies[:20])]
    others = [page_bytes(site, other, State(0, 0)) for other in site.articles["hub.demo.test"][1:20]]
    far = [(fingerprint(bodies[0]) ^ fingerprint(other)).bit_count() for other in others]
    assert sum(near) / len(near) < sum(far) / len(far) - 4


def test_a_web_too_small_for_its_roles_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 28 hosts"):
        Site(Plan(seed=1, start=START, port=80, hosts=27, pages=3000))
    with pytest.raises(ValueError, match="12 pages each"):
        Site(Plan(seed=1, start=START, port=80, hosts=30, pages=300))
