"""Serves the faults of faults.py to try a crawl by hand: `python -m tests.web FOLDER [--port 8099]`.

Writes recrawl.toml and seeds.txt of a crawl into FOLDER unless they are there, then serves on 127.0.0.1 and says each
request until Ctrl-C. Nothing leaves the machine: the settings lead all its hosts to that address.
"""

import argparse
import contextlib
import sys
import time
from pathlib import Path

from tests.web.faults import FAULTS, host_of, script
from tests.web.server import Request, ScriptedServer

ADDRESS = "127.0.0.1"
SETTINGS = """\
[crawl]
user_agent = "trybot/1.0 (+http://localhost/)"

[lake]
buckets = 1

[fetch]
allow_private = ["127.0.0.0/8"]
connect_seconds = 2
read_seconds = 3
total_seconds = 6

[politeness]
delay_seconds = 0.2
address_delay_seconds = 0

[fetch.resolve]
"""


def main(folder: Path, port: int) -> None:
    """Write the crawl and serve its web."""
    folder.mkdir(parents=True, exist_ok=True)
    # A host without an open port has an address of its own, where nobody listens.
    resolve = {host_of(name): "127.0.0.2" if fault.server else ADDRESS for name, fault in FAULTS.items()}
    with ScriptedServer(script(port, ADDRESS), is_literal=True) as server:
        texts = {
            "recrawl.toml": SETTINGS + "".join(f'"{host}" = "{address}"\n' for host, address in resolve.items()),
            "seeds.txt": "".join(f"{url}\n" for url in server.script["plan"]),
        }
        for name, text in texts.items():
            with contextlib.suppress(FileExistsError), (folder / name).open("x") as file:
                file.write(text)
        _say(f"{len(FAULTS)} hosts on {ADDRESS}:{port}. In another terminal:")
        for command in ("init", "seed", "run", "report"):
            _say(f"    recrawl {command} {'' if command == 'init' else '--settings '}{folder}")
        said = 0
        while True:
            time.sleep(0.2)
            while said < len(server.log):
                _say(_line(server.log[said]))
                said += 1


def _line(request: Request) -> str:
    return f"{request.method} {request.url}".encode("unicode_escape").decode()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.web", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the crawl; made if absent")
    parser.add_argument("--port", type=int, default=8099)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        main(given.folder, given.port)
