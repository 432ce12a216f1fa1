"""Certificates for scripted hosts, good and bad, made with the `openssl` program."""

import multiprocessing.util
import shutil
import ssl
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout")
_CONFIGURATION = """[ca]
default_ca=d
[d]
dir=.
database=index.txt
new_certs_dir=.
rand_serial=yes
certificate=ca.pem
private_key=ca.key
default_md=sha256
policy=p
copy_extensions=copy
unique_subject=no
[p]
commonName=supplied
"""


class Certificates:
    """An authority (`authority` is its certificate's path) and the server contexts that it vouches for, or not."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tests-tls-"))
        self._lock = threading.Lock()
        self._made: dict[tuple[str, str], ssl.SSLContext] = {}
        self.authority = str(self._folder / "ca.pem")
        multiprocessing.util.Finalize(None, shutil.rmtree, args=(self._folder, True), exitpriority=1)
        usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self._run("req", "-x509", *_KEY, "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=tests", *usage)
        (self._folder / "index.txt").touch()
        (self._folder / "index.txt.attr").touch()
        (self._folder / "ca.cnf").write_text(_CONFIGURATION)

    def context(self, host: str, kind: str) -> ssl.SSLContext:
        """The server's side for `host`. kind: valid, self_signed, expired or wrong_host."""
        with self._lock:
            if (host, kind) not in self._made:
                self._made[host, kind] = self._make(host, kind)
            return self._made[host, kind]

    def _make(self, host: str, kind: str) -> ssl.SSLContext:
        stem = f"host{len(self._made)}"
        name = "other.invalid" if kind == "wrong_host" else host
        subject = ("-subj", "/CN=leaf", "-addext", f"subjectAltName=DNS:{name}")
        if kind == "self_signed":
            self._run("req", "-x509", *_KEY, f"{stem}.key", *subject, "-out", f"{stem}.pem", "-days", "30")
        else:
            self._run("req", "-new", *_KEY, f"{stem}.key", *subject, "-out", f"{stem}.csr")
            past = ("-startdate", "200101000000Z", "-enddate", "200102000000Z")
            span = past if kind == "expired" else ("-days", "30")
            files = ("-config", "ca.cnf", "-in", f"{stem}.csr", "-out", f"{stem}.pem")
            self._run("ca", "-batch", "-notext", *files, *span)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / f"{stem}.pem", self._folder / f"{stem}.key")
        return context

    def _run(self, *arguments: str) -> None:
        subprocess.run(("openssl", *arguments), cwd=self._folder, check=True, capture_output=True)


@cache
def certificates() -> Certificates:
    """One authority a process."""
    return Certificates()
