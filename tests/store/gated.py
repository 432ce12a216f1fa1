"""Owners that move one file operation at a time, and can be stopped or killed before and after each."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawler.store.files import Files


class Killed(BaseException):
    """What a dead process's thread ends with; no product code may catch it."""


class Task:
    """A stage call in its own thread that runs only while the test lets it."""

    def __init__(self, name: str, call: Callable[[], Any]) -> None:
        self.name = name
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self._kill = False
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait()

    def step(self, operations: int = 1) -> None:
        """Let the task do so many file operations more, or end."""
        for _ in range(operations):
            if self.done:
                return
            self._go.release()
            self._wait()

    def finish(self) -> None:
        """Let the task run to its end."""
        while not self.done:
            self.step()

    def kill(self) -> None:
        """End the task where it stands, as SIGKILL would."""
        self._kill = True
        self.finish()

    def gate(self) -> None:
        """Called by the task's thread before and after each operation."""
        self._stopped.release()
        self._go.acquire()
        if self._kill:
            raise Killed

    def _wait(self) -> None:
        assert self._stopped.acquire(timeout=60), f"{self.name} hangs"

    def _run(self) -> None:
        _LOCAL.task = self
        try:
            self.gate()
            self.result = self._call()
        except BaseException as error:  # noqa: BLE001 - whoever started the task judges how it ended
            self.error = error
        finally:
            self.done = True
            self._stopped.release()


_LOCAL = threading.local()


class GatedFiles(Files):
    """The lake's real files; each operation of a task's thread waits at the task's gate before and after."""

    def _gated(self, call: Callable[[], Any]) -> Any:
        task = getattr(_LOCAL, "task", None)
        if task is None:
            return call()
        task.gate()
        result = call()
        task.gate()
        return result

    def names(self, folder: str) -> list[str]:
        return self._gated(lambda: super(GatedFiles, self).names(folder))

    def read(self, name: str) -> bytes:
        return self._gated(lambda: super(GatedFiles, self).read(name))

    def put(self, staged: Path, name: str) -> None:
        self._gated(lambda: super(GatedFiles, self).put(staged, name))

    def create(self, staged: Path, name: str) -> bool:
        return self._gated(lambda: super(GatedFiles, self).create(staged, name))


class NoGuard:
    """A guard that lets a live owner's partition be taken, as a take-over by time-out does on a shared store."""

    def hold(self, partition: str, holder: str) -> Callable[[], None]:
        return lambda: None
