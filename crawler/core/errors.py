"""Our own failures, one class per cause. A site's failure is an outcome, never one of these.

Each message says what was found, what was expected and what to run next. `retryable` tells an orchestrator
whether the same call can succeed later without a change; `exit_code` is the command line's.
"""

from typing import ClassVar


class RecrawlError(Exception):
    """The base of every error that Recrawl raises on purpose. Pickles by its arguments."""

    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1

    def __init__(self, *details: object) -> None:
        super().__init__(*details)

    def __str__(self) -> str:
        return self.message(*self.args)

    def message(self, *details: object) -> str:
        """The sentence shown to a person."""
        return " ".join(str(detail) for detail in details)


class UsageError(RecrawlError):
    """Something the operator wrote is wrong; the cure is in the message."""

    exit_code = 2


class BadSettings(UsageError):
    """A settings file or variable that does not validate. Arguments: where, problem, cure."""

    def message(self, *details: object) -> str:
        where, problem, cure = details
        return f"settings {where}: {problem}. {cure}"


class NoContact(UsageError):
    """The user agent names nobody to write to. Arguments: the user agent found."""

    def message(self, *details: object) -> str:
        return (
            f"crawl.user_agent is {details[0]!r} and names no contact. Sites must be able to reach you: write e.g. "
            'user_agent = "mybot/1.0 (+https://example.org/bot; bot@example.org)" in recrawl.toml'
        )


class BadSeeds(UsageError):
    """Seeds that hold nothing to crawl. Arguments: source, problem."""

    def message(self, *details: object) -> str:
        source, problem = details
        return f"seeds {source}: {problem}. Expected one absolute http or https URL a line; nothing was added"


class BadCycle(UsageError):
    """A cycle that cannot be run. Arguments: text found, problem."""

    def message(self, *details: object) -> str:
        found, problem = details
        return f"cycle {found!r}: {problem}. Expected a UTC day like 2026-11-25, not after today"


class BadClockFile(UsageError):
    """The file of a simulated clock cannot be read. Arguments: path, problem."""

    def message(self, *details: object) -> str:
        path, problem = details
        return (
            f'clock file {path}: {problem}. Expected {{"offset_seconds": NUMBER}}; '
            "write the file or remove clock.simulated from the settings"
        )


class NoLake(UsageError):
    """There is no lake at the root. Arguments: root."""

    def message(self, *details: object) -> str:
        return f"no lake at {details[0]}: no meta/ there. Run `recrawl init` or set lake.root to an existing lake"


class OtherLake(UsageError):
    """A lake that does not agree with the settings. Arguments: root, what differs, found, expected."""

    def message(self, *details: object) -> str:
        root, what, found, expected = details
        return f"lake {root} has {what} {found}, the settings say {expected}. Set {what} to {found} in recrawl.toml"


class SchemaMismatch(UsageError):
    """A lake of another schema version. Arguments: root, found, expected."""

    def message(self, *details: object) -> str:
        root, found, expected = details
        cure = "Run `recrawl migrate`" if int(str(found)) < int(str(expected)) else "Install a newer Recrawl"
        return f"lake {root} has schema version {found}, this Recrawl reads and writes version {expected}. {cure}"


class DiskNearlyFull(UsageError):
    """A cycle that would not fit on the lake's disk. Arguments: root, cycle, bytes free, bytes needed."""

    def message(self, *details: object) -> str:
        root, cycle, free, needed = details
        return (
            f"lake {root} has {_megabytes(free)} free, cycle {cycle} wants {_megabytes(needed)}; nothing was planned. "
            "Free that much, or lower plan.budget_urls and set lake.min_free_bytes to what you accept; "
            "see docs/operating.md"
        )


class NotPlanned(UsageError):
    """A stage was asked for before the one it needs. Arguments: stage, cycle, what is missing."""

    def message(self, *details: object) -> str:
        stage, cycle, missing = details
        return f"{stage} of cycle {cycle}: {missing} is missing. Run `recrawl run --cycle {cycle}`"


class CycleExpired(UsageError):
    """A cycle whose plan was deleted is to be run again. Arguments: cycle, bucket."""

    def message(self, *details: object) -> str:
        cycle, bucket = details
        return (
            f"cycle {cycle}: it was admitted, and bucket {bucket} has no plan for it any more (upkeep.plan_days). What "
            "it fetched is in the lake; run a newer cycle"
        )


class BadQuery(UsageError):
    """A question that the lake cannot answer. Arguments: problem, cure."""

    def message(self, *details: object) -> str:
        problem, cure = details
        return f"query: {problem}." + (f" {cure}" if cure else "")


class BadHost(UsageError):
    """A text that names no host. Arguments: the text."""

    def message(self, *details: object) -> str:
        return f"{details[0]!r} is no host. Expected a name like `example.org`, without port, or a URL of it"


class NotHeld(UsageError):
    """A release of a host that is not held. Arguments: host, the held ones."""

    def message(self, *details: object) -> str:
        host, held = details
        return f"{host} is not held. Held hosts: {held}. `recrawl hold HOST` holds one"


class BadPurge(UsageError):
    """A purge, or a lifting, of what cannot be purged or is not. Arguments: name, problem."""

    def message(self, *details: object) -> str:
        name, problem = details
        return (
            f"{name} {problem}. Expected a host like `example.org` or an absolute URL; `recrawl purge --list` shows all"
        )


class BadForce(UsageError):
    """A force, or a lifting, of what cannot be forced or is not. Arguments: URL, problem, cure."""

    def message(self, *details: object) -> str:
        url, problem, cure = details
        return f"{url} {problem}. {cure}"


class BadOutput(UsageError):
    """A file that cannot be written. Arguments: path, problem."""

    def message(self, *details: object) -> str:
        path, problem = details
        return f"output {path} {problem}. Expected the name of a new .parquet or .csv file outside the lake"


class MissingSecret(UsageError):
    """A setting refers to a secret that cannot be had. Arguments: key, reference, problem, cure; never the secret."""

    def message(self, *details: object) -> str:
        key, reference, problem, cure = details
        return f"{key} refers to {reference}, which {problem}. {cure}. No request was sent"


class ProxyFailed(RecrawlError):
    """A proxy that the settings name does not serve us: nothing is learnt about a site. Arguments: proxy, problem."""

    retryable = True

    def message(self, *details: object) -> str:
        proxy, problem = details
        return (
            f"proxy {proxy}: {problem}. Start the proxy or correct fetch.proxy or the host's own, then run the "
            "same stage again; what was not asked for stays open"
        )


class BucketTaken(RecrawlError):
    """A live process holds the lease. Arguments: partition, holder."""

    retryable = True
    exit_code = 3

    def message(self, *details: object) -> str:
        partition, holder = details
        return f"{partition} is held by {holder}. It is retried later; if that process hangs, end it and run again"


class LeaseLost(RecrawlError):
    """Somebody else took the partition while we worked. Arguments: partition, epoch."""

    retryable = True
    exit_code = 3

    def message(self, *details: object) -> str:
        partition, epoch = details
        return (
            f"{partition} was taken over during epoch {epoch}: what this task wrote after the take-over does not "
            "count. Run the same stage again; it resumes from what counts"
        )


class CorruptLake(RecrawlError):
    """A file of the lake is not what its name promises. Arguments: path, problem."""

    def message(self, *details: object) -> str:
        path, problem = details
        return f"{path}: {problem}. Run `recrawl migrate` for an older lake, else restore the file from a backup"


class CheckFailed(RecrawlError):
    """Rows of a cycle break a promise, so it is not published. Arguments: cycle, names of checks with counts."""

    def message(self, *details: object) -> str:
        cycle, found = details
        return (
            f"cycle {cycle} is not published: {found}. The rows stay in the lake; see the check file named there, "
            f"then run `recrawl run --cycle {cycle}`"
        )


class StaleCheck(RecrawlError):
    """A newer publication of the cycle knows more than the check. Arguments: cycle, bucket."""

    retryable = True

    def message(self, *details: object) -> str:
        cycle, bucket = details
        return (
            f"cycle {cycle}: another run has published newer rows of bucket {bucket} since this check. "
            "Run check and publish again"
        )


class Stopped(RecrawlError):
    """We were asked to end before the cycle did. Arguments: cycle."""

    retryable = True
    exit_code = 130

    def message(self, *details: object) -> str:
        return (
            f"cycle {details[0]} was stopped; what was fetched is kept. "
            f"Run `recrawl run --cycle {details[0]}` again: it goes on from there"
        )


class CycleIncomplete(RecrawlError):
    """Buckets of a cycle failed; the others are published. Arguments: cycle, buckets, cure."""

    def message(self, *details: object) -> str:
        cycle, buckets, cure = details
        return f"cycle {cycle} lacks buckets {buckets}; the others are published. {cure}"


class ParserNotStarted(RecrawlError):
    """The process that reads pages does not come up. Arguments: interpreter, what was found."""

    retryable = True

    def message(self, *details: object) -> str:
        python, found = details
        return (
            f"the parse worker did not start: {found}. Expected that `{python} -c 'import crawler.page.worker'` works; "
            "run it"
        )


def _megabytes(count: object) -> str:
    return f"{int(str(count)) / 1e6:,.1f} MB"
