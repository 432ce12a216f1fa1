"""The wish of an operator or an orchestrator that this process ends: SIGTERM, or Ctrl-C.

Owns the handlers of the two signals while something runs that can end early. Ends nothing itself.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """Call it to learn whether the process was asked to end. number: of the signal that asked; None so far."""

    number: int | None = None

    def __call__(self) -> bool:
        return self.number is not None


@contextmanager
def stop_on_signals(*, second_kills: bool = False) -> Iterator[Stop]:
    """Note the first SIGTERM or SIGINT in the block instead of obeying it.

    second_kills: whether another one ends the process at once; else it is nothing new. In a thread that is not the
    main one, where no handler can be set, nothing is ever noted.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(number: int, _frame: FrameType | None) -> None:
        stop.number = stop.number or number
        if second_kills:
            for each in _SIGNALS:
                signal.signal(each, signal.SIG_DFL)

    before = {each: signal.signal(each, note) for each in _SIGNALS}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
