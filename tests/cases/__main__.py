"""Runs every row of the files of cases in a folder: `python -m tests.cases DIR`.

Writes a line for each row that is not met and `N passed, M failed` at the end; exit code 1 if M. A row that rests on
real seconds is tried once more on failing, since a busy machine can make it late; standard error says so.
"""

import sys
from pathlib import Path

from tests.cases.rows import FILES, argument_for, differences, rows_of


def main(folder: Path) -> int:
    """Run what is in `folder`; the exit code."""
    found = [name for name in FILES if (folder / name).is_file()]
    if not found:
        _say(f"{folder} holds no file of cases; known are {', '.join(FILES)}", sys.stderr)
        return 2
    passed = failed = 0
    for name in found:
        for row in rows_of(folder / name):
            argument = argument_for(name, row)
            if argument is not None and not argument.run:
                _say(f"{name} {row['id']}: not run, not counted: {argument.reason}", sys.stderr)
                continue
            problems = differences(name, row)
            if problems and row.get("kind") == "script":
                first, problems = problems, differences(name, row)
                if not problems:
                    _say(f"{name} {row['id']}: met at the second try only: {'; '.join(first)}", sys.stderr)
            passed, failed = (passed, failed + 1) if problems else (passed + 1, failed)
            if problems:
                argued = f" (we disagree: {argument.reason})" if argument is not None else ""
                _say(f"{name} {row['id']}: {'; '.join(problems)}{argued}")
    _say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _say(line: str, stream: object = None) -> None:
    """One line, whatever strangers' octets are in it."""
    text = line.encode("unicode_escape").decode("ascii") if not line.isprintable() else line
    print(text, file=stream or sys.stdout, flush=True)  # type: ignore[call-overload]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.cases DIR")
    sys.exit(main(Path(sys.argv[1])))
