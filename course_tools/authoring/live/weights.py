"""``python -m course_tools.authoring.live.weights`` writes stored models as modules, byte for byte."""

import base64

from course_utils.paths import PACKAGE
from course_utils.show.pieces import LIVE_FOLDER

MODELS = ("mini_gpt", "translator")


def module(name: str) -> str:
    """The module of one stored model."""
    data = (PACKAGE / "training" / f"{name}.safetensors").read_bytes()
    return f'export const weights = "{base64.b64encode(data).decode("ascii")}";\n'


if __name__ == "__main__":
    for name in MODELS:
        (LIVE_FOLDER / f"weights_{name}.js").write_text(module(name), encoding="utf-8")
