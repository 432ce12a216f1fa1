"""The process that reads pages for a fetch task: it may hang, crash or fill its memory without hurting the task.

    python -m crawler.page.worker < a socket of the task

Reads batches from standard input and answers there; ends when the task does. An alarm of the kernel ends it when one
page takes too much CPU time, whatever the parser is doing and whether or not the task still lives. Holds no file of
the lake, no lock and no network; imports only what reading pages needs.
"""

import contextlib
import resource
import signal
import socket
import sys

from crawler.page.messages import READY, read_hello, read_request, reply
from crawler.page.reading import LinkWriter, read

MEMORY_BYTES = 1 << 30
"""Address space of a worker; a page that needs more ends as `parser_failed`."""


def main() -> None:
    """Serve the task at standard input until it closes it."""
    # A terminal's Ctrl-C and an orchestrator's SIGTERM mean the task, which still wants its last pages read.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError):  # not every system can limit it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with socket.socket(fileno=sys.stdin.fileno()) as task, task.makefile("rb") as requests:
        try:
            rules = read_hello(requests)
            task.sendall(READY)
            while True:
                jobs, seconds = read_request(requests)
                links, readings = LinkWriter(rules.traps), []
                for job in jobs:
                    signal.setitimer(signal.ITIMER_PROF, seconds)
                    readings.append(read(job, rules, links))
                found = reply(readings, links.columns())
                signal.setitimer(signal.ITIMER_PROF, 0)
                task.sendall(found)
        except (EOFError, ConnectionError):
            return  # the task has ended, or does not want us any more


if __name__ == "__main__":
    main()
