"""What the course needs of a JupyterHub. Tried with JupyterHub 6.1.1, PAM, LocalProcessSpawner: docs/classroom.md."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821

# Paths of this machine: the environment that `course.py setup` has made, this folder, the hand-out, the folder for handing in.
PYTHON = os.environ.get("ATTENTION_PYTHON", "/srv/attention/.venv/bin/python")
HERE = os.environ.get("ATTENTION_HUB", "/srv/hub")
REPO = os.environ.get("ATTENTION_REPO", "file:///srv/git/attention.git")
EXCHANGE = os.environ.get("ATTENTION_EXCHANGE", "/srv/exchange")

c.Spawner.cmd = [PYTHON, f"{HERE}/attention-singleuser"]
c.Spawner.environment = {"ATTENTION_REPO": REPO, "COURSE_EXCHANGE": EXCHANGE}
c.Spawner.http_timeout = c.Spawner.start_timeout = 180  # a first start copies the course: seconds, but perhaps of many at once

# A kernel with PyTorch keeps 0.2 to 0.6 GB until it ends: end those that have done nothing for an hour, and idle servers after two.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_interval=300",
    "--MappingKernelManager.cull_connected=True",
    "--ServerApp.shutdown_no_activity_timeout=7200",
]
c.Spawner.mem_limit = "3G"  # LocalProcessSpawner does not hold to it; systemd's, Docker's and Kubernetes' spawners do
c.JupyterHub.concurrent_spawn_limit = 20  # a class that logs in at ten past ten
