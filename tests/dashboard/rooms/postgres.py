"""A server of PostgreSQL for the tests, from Debian's packages: started when asked for, in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
POSTGRES = shutil.which("postgres") or next((str(folder / "postgres") for folder in reversed(FOLDERS)), None)


@dataclass
class Server:
    """Where it is, and how it is killed and started again."""

    folder: str
    restart: Callable[[], None]

    def address(self, database):
        return f"postgresql://postgres@/{database}?host={self.folder}"


@contextmanager
def running():
    """A server that is reached by a socket in its own folder."""
    if POSTGRES is None:
        pytest.skip("needs a server of PostgreSQL (Debian: apt-get install postgresql)")
    folder = tempfile.mkdtemp(prefix="pg-")
    # It refuses to work as root.
    user = "postgres" if hasattr(os, "getuid") and os.getuid() == 0 else None
    if user is not None:
        import pwd

        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    tools = Path(POSTGRES).parent

    def run(tool, *options):
        command = [tools / tool, "-D", f"{folder}/data", *options]
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    try:
        run("initdb", "--username=postgres", "--auth=trust", "--no-sync")
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", f"-c listen_addresses='' -k {folder} -F", "start")
        try:
            yield Server(folder, lambda: run("pg_ctl", "-w", "-m", "immediate", "-l", f"{folder}/log", "restart"))
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
