"""nginx on loopback: a folder of files for each Host, nothing else.

Owns the server's process and says what CPU it took, which is reported apart from the crawlers'.
"""

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.fetch.measured import cpu_of_tree

_CONFIGURATION = """\
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections {connections}; }}
http {{
    types {{ text/html html; text/plain txt; }}
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000;
    server_names_hash_bucket_size 128;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 0.0.0.0:{port} backlog=4096 reuseport;
        root {root}/$host;
        location ~ ^/many/(?<copy>[0-9]+)(?<page>/.*)$ {{
            # A variant of a page of its own, so that many more pages can be asked for than are on the disk.
            sub_filter '<h1>' '<h1>$copy ';
            sub_filter_once on;
            try_files $page =404;
        }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """A server that runs. pid: of its master process."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """CPU that it has taken so far."""
        return cpu_of_tree(self.pid)


@contextmanager
def serve(root: Path, folder: Path) -> Iterator[Nginx]:
    """Serve `root/HOST/...` while the block runs; its own files go to `folder`. Raises SystemExit without nginx."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise SystemExit("nginx is missing: run `apt-get install nginx-light` (or make bench-fetch as root)")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port = _free_port()
    file = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""  # the files may lie where others may not look
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 16_384)
    file.write_text(
        _CONFIGURATION.format(user=user, folder=folder, root=root, port=port, files=files, connections=files // 2)
    )
    process = subprocess.Popen([program, "-c", str(file), "-e", str(folder / "error.log")])
    try:
        _wait_for(port, process, folder / "error.log")
        yield Nginx(port, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(100):
        if process.poll() is not None:
            raise SystemExit(f"nginx ended with {process.returncode}: {log.read_text() if log.exists() else ''}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("nginx does not answer")
