"""What the course keeps about a learner in ``.course``, the token of JupyterLab first of all, is for that user alone."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from course_checks import record
from course_utils.files import private_folder, write_bytes
from course_utils.launcher import server, setup

POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights: a user's folder is private as it is")
SERVER = (
    "import json, os, sys, time; print('http://localhost:8888/lab?token=abe94'); sys.stdout.flush()\n"
    "open(os.path.join(sys.argv[1], f'jpserver-{os.getpid()}.json'), 'w').write(json.dumps({'url': 'u', 'token': 'abe94'}))\n"
    "time.sleep(0.5)"
)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def wide_folder(root: Path) -> Path:
    """``.course`` as an earlier version has left it: everybody may enter and read."""
    folder = root / ".course"
    for path in (folder / "lab.log", folder / "progress.json", folder / "runtime" / "kernel.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        path.chmod(0o644)
    for path in (folder, folder / "runtime"):
        path.chmod(0o755)
    return folder


def start_a_lab(folder: Path, monkeypatch) -> None:
    """As ``course.py lab`` does, with a server of three lines."""
    monkeypatch.setattr(setup, "damaged", dict)
    (folder / "runtime").mkdir(parents=True, exist_ok=True)
    variables = dict(os.environ, **server.lab_files(folder))
    command = [sys.executable, "-c", SERVER, folder / "runtime"]
    assert server.serve(command, variables, folder / "lab.log", folder / "runtime", lambda found: None, print) == 0
    assert "token=abe94" in (folder / "lab.log").read_text()


@pytest.fixture(params=["new", "wide"])
def folder(request, tmp_path, monkeypatch):
    """``.course`` of a course, which is not there yet or is open to everybody; whatever the user's own settings are."""
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    before = os.umask(0o000)
    yield wide_folder(tmp_path) if request.param == "wide" else tmp_path / ".course"
    os.umask(before)


@POSIX
def test_the_lab_keeps_its_token_to_itself(folder, monkeypatch):
    start_a_lab(folder, monkeypatch)
    assert rights(folder) == 0o700 and rights(folder / "lab.log") == 0o600
    assert rights(folder / "ipython" / "profile_default" / "startup" / "course.py") == 0o600
    for path in (folder / "progress.json", folder / "runtime" / "kernel.json"):  # what lay there before
        assert not path.exists() or rights(path) == 0o600


@POSIX
def test_a_check_keeps_progress_to_itself(folder):
    record.record("03.1", 4, True)
    record.reset("03")
    assert rights(folder) == 0o700
    assert {path.name for path in folder.glob("*.json")} == {"progress.json", "progress.before_reset.json"}
    assert all(rights(path) == (0o700 if path.is_dir() else 0o600) for path in folder.rglob("*"))
    assert json.loads((folder / "progress.json").read_text()) == {} and record.load() == {}


@POSIX
def test_rights_of_what_a_link_leads_to_stay(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("not ours")
    other.chmod(0o644)
    (tmp_path / ".course").mkdir()
    (tmp_path / ".course" / "link").symlink_to(other)
    private_folder(tmp_path / ".course")
    assert rights(other) == 0o644


def as_nobody(*command) -> subprocess.CompletedProcess:
    return subprocess.run(command, user="nobody", group=65534, extra_groups=[], capture_output=True, text=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as a second user")
def test_a_second_user_cannot_read_the_token(monkeypatch):
    """The folder of the course is open to everybody, as on a shared computer; a file beside `.course` can be read, the log cannot."""
    root = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own folders are closed to other users anyway
    try:
        root.chmod(0o755)
        (root / "README.md").write_text("for all")
        (root / "README.md").chmod(0o644)
        folder = wide_folder(root)
        assert as_nobody("cat", root / "README.md").stdout == "for all" and as_nobody("cat", folder / "lab.log").stdout == "{}"
        start_a_lab(folder, monkeypatch)
        for command in (("cat", folder / "lab.log"), ("ls", folder), ("cat", folder / "progress.json")):
            done = as_nobody(*command)
            assert done.returncode and not done.stdout and "Permission denied" in done.stderr
        folder.chmod(0o755)  # even where somebody opens the folder again
        assert as_nobody("cat", folder / "lab.log").returncode
    finally:
        shutil.rmtree(root)


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "a.json"
    write_bytes(path, b"one")

    def disk_full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space"):
        write_bytes(path, b"two")
    assert path.read_bytes() == b"one" and [p.name for p in path.parent.iterdir()] == ["a.json"]
