"""The GPT on the page: its engine equals the course's model, in node; in a browser it answers mouse, keyboard and touch."""

import base64
import json
import os
import shutil
import subprocess

import pytest
import torch

from course_tools.authoring.book.pdf import find_browser
from course_tools.authoring.live.scripts import page
from course_tools.authoring.live.weights import MODELS, module
from course_utils.paths import PACKAGE, ROOT
from course_utils.show.pieces import LIVE_FOLDER
from course_utils.training.mini_gpt import load_mini_gpt

TEXTS = [
    "The argument is o",
    "naïve café — 3.14 ≠ 2,71\n\n  def f(x): 🙂",
    "Return the number of bytes written. If the file is not open. " * 2,
]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_engine_computes_what_pytorch_computes(tmp_path):
    model, tokenizer = load_mini_gpt()
    cases = []
    for text, off in [*((text, []) for text in TEXTS), (TEXTS[2], ["1,2", "2,0"])]:
        for one in off:
            layer, head = map(int, one.split(","))
            model.blocks[layer].attention.w_o.weight.data[:, head * 30 : (head + 1) * 30] = 0
        ids = torch.tensor([tokenizer.encode(text)])
        x, mask, seen = model.token(ids) + model.position.weight[: ids.shape[1]], torch.ones(ids.shape[1], ids.shape[1]).tril().bool(), []
        with torch.no_grad():
            for block in model.blocks:
                seen.append(block.attention.weights(block.norm_1(x), mask=mask)[0].tolist())
                x = block(x)
            cases.append({"text": text, "ids": ids[0].tolist(), "off": off, "logits": model(ids)[0].tolist(), "attention": seen})
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    command = ["node", "--no-warnings", ROOT / "tests/show/live/test_gpt_page.js", tmp_path / "cases.json"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    print(run.stdout)


@pytest.mark.parametrize("name", MODELS)
def test_the_weights_of_the_page_are_the_stored_file(name):
    text = (LIVE_FOLDER / f"weights_{name}.js").read_text()
    assert text == module(name)
    assert base64.b64decode(text.split('"')[1]) == (PACKAGE / "training" / f"{name}.safetensors").read_bytes()


@pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" or find_browser() is None, reason="needs a Chromium, and --full")
def test_it_answers_the_hand(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    (tmp_path / "page.html").write_text(page("gpt_page"))
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        view = browser.new_page(has_touch=True, viewport={"width": 390, "height": 800})
        view.goto((tmp_path / "page.html").as_uri())
        answer = view.evaluate((ROOT / "tests/show/live/hand_gpt_page.js").read_text())
        field = view.get_by_role("textbox")
        for typed in ("", "a 🙂", "x" * 5000):
            field.fill(typed)
            view.wait_for_function("n => document.querySelectorAll('.token').length >= n", arg=1 + 3 * bool(typed))
        view.get_by_text("If the iterable …").tap()
        view.locator(".next").first.click()
        view.locator(".token").last.press("ArrowLeft")
        assert view.locator(".token[aria-pressed=true]").inner_text() == "·returns" and field.input_value().endswith("returns the")
        browser.close()
    print(answer)
    assert answer["switched"] and answer["median"] < 33  # of two frames of a screen
