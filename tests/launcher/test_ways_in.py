"""Files that other places expect (Binder, Colab, Codespaces, GitHub): prepared, and in step with requirements.txt."""

import importlib.util
import json
import os
import re
import shlex

import nbformat
import pytest
import yaml

from course_tools import lock
from course_utils.paths import ROOT

(PIN,) = re.findall(r"(?m)^torch==([\w.]+)", (ROOT / "requirements.txt").read_text("utf-8"))


@pytest.fixture(scope="module")
def publish():
    spec = importlib.util.spec_from_file_location("publish", ROOT / "docs" / "publish.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOCKED = "pip install --only-binary :all: -c requirements.lock -r requirements.txt"  # wheels, of the versions that were tested


def test_binder_gets_the_pinned_cpu_build_and_the_course():
    assert f"torch=={PIN}+cpu" in (ROOT / "binder" / "requirements.txt").read_text("utf-8")
    assert (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip() in ("python-3.11", "python-3.12", "python-3.13")
    assert os.name == "nt" or os.access(ROOT / "binder" / "postBuild", os.X_OK)
    commands = (ROOT / "binder" / "postBuild").read_text("utf-8").replace("--no-cache-dir ", "")
    assert LOCKED in commands and "pip install --no-deps -e ." in commands


def test_the_container_gets_the_pinned_cpu_build_and_opens_an_existing_chapter():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    command = container["postCreateCommand"]
    assert f"torch=={PIN} --index-url https://download.pytorch.org/whl/cpu" in command
    assert LOCKED in command and "pip install --no-deps -e ." in command
    opened = re.search(r"/lab/tree/(\S+)", container["postAttachCommand"]).group(1)
    assert (ROOT / opened).exists()


def test_badges_and_colab_copies(publish, tmp_path, capsys):
    (tmp_path / "README.md").write_text("# A\n<!-- ways in -->\nold\n<!-- /ways in -->\nrest\n", encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    source = next((ROOT / "chapters").glob("00_*.ipynb"))
    (tmp_path / "chapters" / source.name).write_bytes(source.read_bytes())
    for _ in range(2):  # a second time changes nothing
        assert publish.main(["someone/attention", "--branch", "stable"], tmp_path) == 0
    text = (tmp_path / "README.md").read_text("utf-8")
    assert text.count("someone/attention") == 3 and "old" not in text and text.endswith("rest\n")
    before, after = (nbformat.read(path, as_version=4) for path in (source, tmp_path / "colab" / source.name))
    nbformat.validate(after)
    assert after.cells[1:] == before.cells and after.metadata == before.metadata
    assert "--branch stable https://github.com/someone/attention" in after.cells[0].source
    assert "1 notebooks" in capsys.readouterr().out


def test_publishing_refuses_what_is_no_repository_and_a_readme_without_marks(publish, tmp_path, capsys):
    with pytest.raises(SystemExit):
        publish.main(["https://example.org/x"], tmp_path)
    (tmp_path / "README.md").write_text("# no marks", encoding="utf-8")
    assert publish.main(["a/b"], tmp_path) == 1
    assert "marks" in capsys.readouterr().err and not (tmp_path / "colab").exists()


def test_the_readme_has_a_place_for_badges(publish):
    assert len(publish.BLOCK.findall((ROOT / "README.md").read_text("utf-8"))) == 1


# ------------------------------------------------------------------------------------- GitHub's workflows

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
OF_GITHUB = ("sudo apt-get install -y bubblewrap", 'gh release create "$GITHUB_REF_NAME" ')  # never run where the course was made


def commands(workflow):
    """{command: the condition of its step}, line by line."""
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return {line: step.get("if", "") for step in steps for line in step.get("run", "").splitlines()}


@pytest.mark.parametrize("name", ["tests", "book", "release"])
def test_the_launcher_takes_every_command_of_the_workflows(name):
    spec = importlib.util.spec_from_file_location("launcher", ROOT / "course.py")
    launcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launcher)
    ours = [shlex.split(line) for line in commands(WORKFLOWS[name]) if not line.startswith(OF_GITHUB)]
    assert ours and all(words[0] == "python" for words in ours)
    for words in ours:
        assert words[1:3] == ["-m", "zipfile"] or words[1] == "course.py" and launcher.parse(words[2:]).run, words
    with pytest.raises(SystemExit):
        launcher.parse(["test", "--unlock-me"])


def test_the_workflow_tests_what_the_lock_promises():
    matrix = WORKFLOWS["tests"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["{}.{}".format(*python) for python in (lock.PYTHONS[0], lock.PYTHONS[-1])]
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    run = commands(WORKFLOWS["tests"])
    assert run["python course.py test"] == "github.event_name != 'schedule'"
    assert run["python course.py test --unlocked"] == "github.event_name == 'schedule'"
    assert {"push", "schedule"} <= set(WORKFLOWS["tests"][True])  # YAML reads the word "on" as true
    assert WORKFLOWS["tests"]["jobs"]["test"]["needs"] == "fast" and "python course.py test --fast" in run


def test_actions_are_pinned_by_commit():
    """A tag can be moved to another text; the version stands behind it, for the reader."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        uses = re.findall(r"uses: *(.+)", path.read_text("utf-8"))
        assert uses and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)*", line) for line in uses), path.name
    pins = {line for path in (ROOT / ".github" / "workflows").glob("*.yml") for line in re.findall(r"uses: *(.+)", path.read_text("utf-8"))}
    assert len(pins) == len({line.partition("@")[0] for line in pins})  # one version of each


def test_hooks_before_a_commit_fetch_nothing():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repository["repo"] == "local" and all(hook["language"] == "system" for hook in repository["hooks"])
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff", "ruff-format", "mypy"]


def test_the_package_without_a_hash_is_named_where_hashes_are_promised():
    assert f"torch=={PIN}+cpu" not in (ROOT / "requirements.lock").read_text("utf-8")
    for name in ("docs/ways_in.md", "requirements.lock", "binder/requirements.txt"):
        assert "CPU build" in (text := (ROOT / name).read_text("utf-8")) and re.search("without a hash|no hash", text), name


def test_a_release_carries_the_hand_out_and_the_pdf():
    run = list(commands(WORKFLOWS["release"]))
    assert "python course.py release" in run
    assert run[-1].startswith('gh release create "$GITHUB_REF_NAME" dist/*')
