"""A leash: runs a command that ends when whoever started it ends, for whatever reason, and leaves no process.

`python -m crawler.demo.leash SIGNAL SECONDS COMMAND ...` leads a session of its own, so that a Ctrl-C in the terminal
does not reach the command, and holds the other end of the starter's pipe as its standard input. When the pipe closes
(the starter closed it, or died) the command gets SIGNAL, after SECONDS SIGKILL, and once it has ended so does the whole
session: Airflow's tasks put themselves into process groups of their own, but stay in the session. If starter and leash
were both killed, `end_strays` finds what they left by the sessions that were written down.

Reads standard input to its end. Writes nothing. Uses the standard library only, since one is started for each service.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

GRACE_SECONDS = 8.0


class Leashed:
    """A command on a leash, seen from the side that holds it.

    ends_on: the signal that asks the command to end. grace_seconds: how long it may take. record: a file to write the
    session down in, for `end_strays`. lock: a descriptor that the leash keeps open until the command and all it started
    are gone.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        ends_on: signal.Signals = signal.SIGTERM,
        grace_seconds: float = GRACE_SECONDS,
        record: Path | None = None,
        lock: int | None = None,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and arguments
                [sys.executable, "-m", "crawler.demo.leash", str(int(ends_on)), str(grace_seconds), *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
                pass_fds=() if lock is None else (lock,),
            )
        if record is not None:
            with record.open("a", encoding="ascii") as sessions:
                sessions.write(f"{_boot()} {self._process.pid}\n")

    @property
    def exit_code(self) -> int | None:
        """The command's exit code; None while it runs."""
        return self._process.poll()

    def let_go(self) -> None:
        """Ask the command to end; returns at once."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def stop(self) -> None:
        """Ask the command to end and wait until its session is empty."""
        self.let_go()
        try:
            self._process.wait(GRACE_SECONDS * 2)
        except subprocess.TimeoutExpired:
            end_session(self._process.pid)
            self._process.wait()
        end_members(self._process.pid)  # there are some if the leash itself was killed

    def last_lines(self, count: int = 20) -> str:
        """The end of what the command printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])


def session_members(session: int) -> list[int]:
    """The processes of a session that live, its leader left out."""
    members = []
    for process in _processes():
        try:
            if process != session and os.getsid(process) == session and not _is_dead(process):
                members.append(process)
        except (ProcessLookupError, PermissionError):
            continue
    return members


def end_strays(record: Path) -> None:
    """End what is left of the sessions in `record`, then forget them. Does nothing where there is no /proc."""
    lines = record.read_text(encoding="ascii").split("\n") if record.exists() else []
    for boot, _, session in (line.partition(" ") for line in lines if line.startswith(_boot() + " ")):
        leader = Path(f"/proc/{session}/cmdline")
        # A number of a session is not given away while one of its processes lives; a leader of another kind is new.
        if boot and (not leader.exists() or not (said := leader.read_bytes()) or b"crawler.demo.leash" in said):
            end_session(int(session))
    record.unlink(missing_ok=True)


def end_members(session: int) -> None:
    """SIGKILL every process of the session but its leader."""
    while members := session_members(session):
        for member in members:
            _signal(member, signal.SIGKILL)
        time.sleep(0.02)


def end_session(session: int) -> None:
    """SIGKILL every process of the session, its leader last."""
    end_members(session)
    if session != os.getpid():
        _signal(session, signal.SIGKILL)


def main(ends_on: int, grace_seconds: float, command: Sequence[str]) -> int:
    """Run the command until it or the starter ends; the command's exit code."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    process = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, preexec_fn=_default_signals)  # noqa: S603
    signal.signal(signal.SIGTERM, lambda *_: process.send_signal(ends_on))

    def end_with_starter() -> None:
        while os.read(sys.stdin.fileno(), 1024):  # unbuffered: a buffer's lock would break the interpreter's exit
            pass
        process.send_signal(ends_on)
        try:
            process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            process.kill()

    threading.Thread(target=end_with_starter, daemon=True).start()
    code = process.wait()
    end_session(os.getpid())
    return code if code >= 0 else 128 - code


def _default_signals() -> None:
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_DFL)


def _boot() -> str:
    """What tells this start of the machine from any other; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _processes() -> list[int]:
    if Path("/proc/self").exists():
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    listing = subprocess.run(["/bin/ps", "-A", "-o", "pid="], capture_output=True, text=True, check=True)
    return [int(word) for word in listing.stdout.split()]


def _is_dead(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
