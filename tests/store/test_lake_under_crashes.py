"""The lake's promises hold whoever is killed or stopped between any two file operations.

Two or three owners at a time run real stages on a real folder, in an order that hypothesis chooses; the fetch of
`small_web` stands for the network. At the end everything is run to completion and judged by what readers see.
"""

import contextlib
import itertools
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from crawler.core.cycle import Cycle
from crawler.core.errors import BucketTaken, LeaseLost, NotPlanned, StaleCheck
from crawler.stages import admit, check, fingerprint, merge, plan, publish, seed
from crawler.store import query, state
from crawler.store.lake import Lake
from crawler.store.lease import Owner, Settled
from crawler.store.plans import read_plan
from crawler.store.reader import open_reader
from tests.store.gated import GatedFiles, Killed, NoGuard, Task
from tests.store.small_web import BUCKETS, FIRST_DAY, PAGES, A, B, ManualClock, fetch, small_settings

pytestmark = pytest.mark.xdist_group("crashes")  # groups begin first, so that the longest tests are not the last

EXAMPLES = int(os.environ.get("CRASH_EXAMPLES", "4"))  # of each machine; `make soak` takes more
CYCLES = [Cycle((FIRST_DAY + timedelta(days=day)).date()) for day in range(2)]
EXPECTED = (BucketTaken, LeaseLost, NotPlanned, StaleCheck, Killed)
STAGES = ["plan", "admit", "fetch", "fetch", "fetch", "fingerprint", "merge", "merge", "check+publish"]


class LakeUnderCrashes(RuleBasedStateMachine):
    """Stage calls of overlapping cycles, cleared buckets and late runs, killed or stopped anywhere."""

    take_over_from_the_living = False

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="lake-"))
        self.settings = small_settings(str(self.root))
        self.clock = ManualClock(FIRST_DAY)
        Lake.create(self.settings, self.clock)
        seed.run(self.lake(), [f"{A}/", f"{B}/"])
        self.clock.instant = FIRST_DAY + timedelta(days=1, hours=1)
        self.tasks: list[Task] = []
        self.unprepared = list(CYCLES)
        self.tokens = itertools.count()
        self.asked: list[tuple[str, Cycle, int, str]] = []
        self.kept: set[str] = set()
        self.shown: set[str] = set()

    def lake(self) -> Lake:
        lake = Lake.open(self.settings, self.clock)
        lake.files = GatedFiles(str(self.root))
        if self.take_over_from_the_living:
            lake.guard = NoGuard()
        return lake

    def call(self, stage: str, cycle: Cycle, number: int) -> Callable[[], Any]:
        lake = self.lake()
        if stage == "fetch":
            return lambda: fetch(
                lake, cycle, number, tokens=self.tokens, asked=lambda *request: self.asked.append(request)
            )
        if stage == "check+publish":
            return lambda: (check.run(lake, cycle), publish.run(lake, cycle))
        if stage == "admit":
            return lambda: admit.run(lake, cycle)
        return {
            "plan": lambda: plan.run(lake, cycle, number),
            "fingerprint": lambda: fingerprint.run(lake, cycle, number),
            "merge": lambda: merge.run(lake, cycle, number),
        }[stage]

    @rule()
    @precondition(lambda self: self.unprepared)
    def prepare(self) -> None:
        """Plan and admit a cycle undisturbed, so that fetches have something to do."""
        cycle = self.unprepared.pop()
        for bucket in range(BUCKETS):
            self.settle(Task("plan", self.call("plan", cycle, bucket)), finish=True)
        self.settle(Task("admit", self.call("admit", cycle, 0)), finish=True)

    @rule(stage=st.sampled_from(STAGES), cycle=st.sampled_from(CYCLES), number=st.integers(0, BUCKETS - 1))
    @precondition(lambda self: len(self.tasks) < 3)
    def start(self, stage: str, cycle: Cycle, number: int) -> None:
        self.tasks.append(Task(f"{stage}[{number}] of {cycle}", self.call(stage, cycle, number)))

    @rule(which=st.integers(0, 2), operations=st.integers(1, 60))
    @precondition(lambda self: self.tasks)
    def step(self, which: int, operations: int) -> None:
        task = self.tasks[which % len(self.tasks)]
        task.step(operations)
        if task.done:
            self.tasks.remove(task)
            self.settle(task)

    @rule(which=st.integers(0, 2))
    @precondition(lambda self: self.tasks)
    def complete(self, which: int) -> None:
        task = self.tasks.pop(which % len(self.tasks))
        self.settle(task, finish=True)

    @rule(which=st.integers(0, 2), operations=st.integers(0, 60))
    @precondition(lambda self: self.tasks)
    def kill(self, which: int, operations: int) -> None:
        task = self.tasks.pop(which % len(self.tasks))
        task.step(operations)
        task.kill()
        self.settle(task)

    def settle(self, task: Task, *, finish: bool = False) -> None:
        """Judge an ended task: only the errors that the design names, and what it promised is kept."""
        if finish:
            task.finish()
        if task.error is not None and not isinstance(task.error, EXPECTED):
            raise AssertionError(f"{task.name} failed") from task.error
        if task.error is None and task.name.startswith("fetch"):
            self.kept.update(task.result)
        if task.error is None and task.name.startswith("check"):
            self.read()

    def read(self) -> None:
        """What a reader sees has every row that it ever saw, and none twice."""
        con = open_reader(self.lake())
        found = Counter(token for (token,) in con.execute("SELECT title FROM observation").fetchall())
        con.close()
        assert not [token for token, times in found.items() if times > 1], "a row is doubled for a reader"
        assert self.shown <= set(found), "a row that a reader saw is gone"
        self.shown = set(found)

    def teardown(self) -> None:
        if not hasattr(self, "root"):
            return
        for task in self.tasks:
            task.kill()
        try:
            self.complete_all()
            self.read()
            self.judge()
        finally:
            shutil.rmtree(self.root)

    def complete_all(self) -> None:
        """Run every cycle to its end undisturbed, then the first once more so that late links are merged."""
        for cycle in CYCLES:
            self.undisturbed(cycle, ("plan", "admit", "fetch", "fingerprint", "merge", "check+publish"))
        self.undisturbed(CYCLES[0], ("fingerprint", "merge", "check+publish"))

    def undisturbed(self, cycle: Cycle, stages: tuple[str, ...]) -> None:
        for stage in stages:
            for number in range(1 if stage in ("admit", "check+publish") else BUCKETS):
                task = Task(f"{stage}[{number}] of {cycle}", self.call(stage, cycle, number))
                task.finish()
                if task.error is not None:
                    raise AssertionError(f"{task.name} failed when undisturbed") from task.error
                self.settle(task)

    def judge(self) -> None:
        lake = self.lake()
        con = open_reader(lake)
        rows = con.execute("SELECT url, cycle, epoch, bucket, title FROM observation").fetchall()
        con.close()
        assert self.kept <= {row[4] for row in rows}, "a finished fetch's row is lost"
        self.judge_plans(lake, rows)
        self.judge_folds(lake)

    def judge_plans(self, lake: Lake, rows: list[Any]) -> None:
        """Every admitted URL has one outcome since its plan, and nothing was fetched that another run had fetched."""
        for cycle in CYCLES:
            for bucket in range(BUCKETS):
                found = read_plan(lake, cycle, bucket)
                assert found is not None
                con = lake.connect()
                query.view_files(con, "planned_urls", "plan", [found.path])
                for (url,) in con.execute("SELECT url FROM planned_urls").fetchall():
                    since = [row for row in rows if row[0] == url and row[2] > found.epoch]
                    assert since, f"{url} of cycle {cycle} has no outcome"
                    own = [row for row in since if row[1] == cycle.day]
                    assert len(own) <= 1, f"{url} has two outcomes in cycle {cycle}"
                    before = [row for row in since if own and row[2] < own[0][2]]
                    assert not before, f"{url} was fetched again in cycle {cycle}"

    def judge_folds(self, lake: Lake) -> None:
        """The fold of checkpoint and tail is that of the whole log; each first copy's links are known and counted."""
        known = set()
        linked: Counter[str] = Counter()
        inlinks: dict[str, int] = {}
        for bucket in range(BUCKETS):
            with_checkpoint = fold(lake, bucket)
            log_alone = fold(lake, bucket, without_checkpoints=True)
            assert with_checkpoint == log_alone, "fold(checkpoint + tail) differs from fold(log)"
            known |= {row["url"] for row in with_checkpoint}
            expanded = [row["url"] for row in with_checkpoint if row["fetches"] and not row["duplicate_of"]]
            linked.update(link for url in expanded for link in PAGES[url][1])
            inlinks |= {row["url"]: row["inlinks"] for row in with_checkpoint if row["inlinks"]}
        assert set(linked) <= known, "a link of a late fetch was not found"
        assert inlinks == linked, "a link was lost or counted twice"


def fold(lake: Lake, bucket: int, *, without_checkpoints: bool = False) -> list[dict[str, Any]]:
    patch = pytest.MonkeyPatch()
    if without_checkpoints:
        patch.setattr(state, "checkpoint_epochs", lambda *_: [])
    try:
        con = lake.connect()
        state.open_state(lake, con, bucket, lake.settled("bucket", bucket))
        return query.rows(con.execute("FROM state_page ORDER BY url_key"))
    finally:
        patch.undo()


class LakeUnderTakeOvers(LakeUnderCrashes):
    """The same without the kernel lock: a stopped owner may be taken over and wake up later, as on a shared store."""

    take_over_from_the_living = True


def run_machine(machine: type[RuleBasedStateMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("machine", [LakeUnderCrashes, LakeUnderTakeOvers])
def test_nothing_is_lost_doubled_or_fetched_again_whoever_dies_or_stops(machine: type[RuleBasedStateMachine]) -> None:
    run_machine(machine, EXAMPLES)


def count_every_file(self: Settled, epoch: int, sequence: int) -> bool:
    """The mutant without the sealed sequence number."""
    return epoch <= self.last


def release_as_if_accepted(self: Owner) -> None:
    """The mutant that does not mind a refused release."""
    with contextlib.suppress(LeaseLost):
        RELEASE(self)


RELEASE = Owner.release
SQL_TEXT = query.sql_text


def forget_row_epochs(name: str) -> str:
    """The mutant whose rewriting stamps rows anew: the newest epoch and sequence in the file for all of them."""
    text = SQL_TEXT(name)
    if name != "fetch/fold_observation":
        return text
    return f"SELECT * REPLACE (max(epoch) OVER () AS epoch) FROM ({text})"


FIRST_SEGMENT = 14  # file operations until the first segment is there; a taker needs some more to look at what is left


def taken_over(machine: LakeUnderCrashes, operations: int) -> None:
    """A fetch is stopped after so many operations, another one takes over and ends, then the first wakes up."""
    stopped = Task("fetch[0] of a stopped owner", machine.call("fetch", CYCLES[0], 0))
    stopped.step(operations)
    machine.settle(Task("fetch[0] of the taker", machine.call("fetch", CYCLES[0], 0)), finish=True)
    machine.settle(stopped, finish=True)


def taken_over_twice(machine: LakeUnderCrashes, operations: int) -> None:
    """The same, but the taker is killed after its first segment, before it could fold what counts."""
    stopped = Task("fetch[0] of a stopped owner", machine.call("fetch", CYCLES[0], 0))
    stopped.step(operations)
    taker = Task("fetch[0] of the taker", machine.call("fetch", CYCLES[0], 0))
    taker.step(FIRST_SEGMENT + 8)
    taker.kill()
    machine.settle(stopped, finish=True)


def killed_then_merged(machine: LakeUnderCrashes, operations: int) -> None:
    """A fetch is killed after so many operations, a merge writes a checkpoint of it, then another fetch resumes."""
    killed = Task("fetch[0] of a killed owner", machine.call("fetch", CYCLES[0], 0))
    killed.step(operations)
    killed.kill()
    for stage in ("fingerprint", "merge"):
        for number in range(BUCKETS):
            machine.settle(Task(f"{stage}[{number}]", machine.call(stage, CYCLES[0], number)), finish=True)


def is_found(disturb: Callable[[LakeUnderCrashes, int], None], operations: int) -> bool:
    """Whether the machine's judgement objects to what comes of a second day that is disturbed there."""
    machine = LakeUnderTakeOvers()
    machine.begin()
    try:
        machine.undisturbed(CYCLES[1], ("plan", "admit", "fetch", "fingerprint", "merge", "check+publish"))
        machine.undisturbed(CYCLES[0], ("plan", "admit"))
        disturb(machine, operations)
        machine.teardown()
    except AssertionError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name", "mutant", "disturb"),
    [
        (Settled, "counts", count_every_file, taken_over_twice),
        (Owner, "release", release_as_if_accepted, taken_over),
        (query, "sql_text", forget_row_epochs, killed_then_merged),
    ],
    ids=["without the sealed sequence", "without the refused release", "without the row epoch"],
)
def test_the_crash_test_finds_each_rule_that_is_taken_away(
    monkeypatch: pytest.MonkeyPatch,
    target: Any,
    name: str,
    mutant: Any,
    disturb: Callable[[LakeUnderCrashes, int], None],
) -> None:
    places = (FIRST_SEGMENT + 8, FIRST_SEGMENT + 1)
    with monkeypatch.context() as taken_away:
        taken_away.setattr(target, name, mutant)
        place = next((operations for operations in places if is_found(disturb, operations)), None)
    assert place is not None, "the rule is taken away"
    assert not is_found(disturb, place), "the rule is in force"
