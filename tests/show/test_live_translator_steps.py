"""The translator on the page: its engine equals the course's model and its decoding, in node; a browser operates it."""

import json
import os
import shutil
import subprocess

import pytest
import torch
from browser import CHROMIUM
from torch import Tensor

from course_tools.authoring.live.scripts import page
from course_utils.models.encoder_decoder import Translator
from course_utils.paths import ROOT
from course_utils.text.numbers import number_pairs
from course_utils.training.decoding import Hypothesis, beam_search, greedy
from course_utils.training.loop import evaluating
from course_utils.training.translator import encode_pairs, load_translator, split_numbers


@torch.no_grad()
def beam_translate(
    model: Translator, source: Tensor, bos: int, eos: int, beam: int = 4, max_new: int = 50, alpha: float = 0.6
) -> list[Hypothesis]:
    """Beam search over one sentence, ids ``(m,)``, with cached keys and values. Evaluation mode; the mode is put back."""
    with evaluating(model):
        memory, memory_mask = model.encode(source[None]), model.memory_mask(source[None])
        caches = model.new_caches()

        def step(tokens: Tensor, rows: Tensor) -> Tensor:
            for own, cross in caches:
                own.reorder(rows.to(source.device))
                cross.reorder(rows.to(source.device))
            k = len(tokens)
            last = tokens[:, -1:].to(source.device)
            scores = model.decode(last, memory.expand(k, -1, -1), memory_mask.expand(k, -1, -1), caches)
            return scores[:, -1].log_softmax(-1)

        return beam_search(step, bos, eos, beam, max_new, alpha)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_engine_computes_what_pytorch_computes(tmp_path):
    (model, *sides), cases, looked = load_translator(), [], []
    for block in model.decoder.blocks:
        block.cross_attention.register_forward_pre_hook(lambda m, given: looked.append(m.weights(*given)[0].tolist()))
    for number, pair in [(n, *number_pairs([n])) for n in [*split_numbers()[1][:24], 5, 7, 110, 1001, 99_999]]:
        source, target = encode_pairs([pair], *sides)
        looked.clear()
        logits, cross = model(source, target[:, :-1])[0].tolist(), [*looked]
        beam = [(h.ids, h.log_probability, h.score) for h in beam_translate(model, source[0], 1, 2, 3, 24)]
        case = {"number": number, "words": pair[0], "ids": source[0].tolist(), "target": target[0, :-1].tolist(), "logits": logits}
        cases.append({**case, "cross": cross, "said": greedy(model, source, 1, 2, 24)[0].tolist(), "beam": beam})
    (tmp_path / "cases.json").write_text(json.dumps({"cases": cases, "few": sum(n < 100 for n in split_numbers()[0])}))
    subprocess.run(["node", "--no-warnings", ROOT / "tests/show/live/test_translator_steps.js", tmp_path / "cases.json"], check=True)


@pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" or CHROMIUM is None, reason="needs a Chromium, and --full")
def test_it_answers_the_hand(tmp_path):
    (tmp_path / "page.html").write_text(page("translator_steps"), encoding="utf-8")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(has_touch=True, viewport={"width": 390, "height": 900})
        view.goto((tmp_path / "page.html").as_uri())
        answer = view.evaluate((ROOT / "tests/show/live/hand_translator_steps.js").read_text("utf-8"))
        view.get_by_role("button", name="translate 5,306").tap()
        view.get_by_role("button", name="Next word").press("ArrowRight")
        assert "fünf" in view.locator(".map tbody").inner_text()
    assert answer.pop("median") < 33 and all(answer.values()), answer
