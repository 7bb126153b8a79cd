"""GPT-1's heads and the committed mini-GPT."""

import math

import pytest
import torch
from torch.nn import functional as F

from course_tools.makers import mini_gpt as maker
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.gpt_heads import TaskHead
from course_utils.text.bpe import ByteBPE
from course_utils.training import mini_gpt

SMALL = GPTConfig(vocab_size=20, d_model=12, num_heads=3, num_layers=2, max_len=16, dropout=0.0)


@pytest.fixture
def head() -> TaskHead:
    torch.manual_seed(0)
    return TaskHead(GPT(SMALL), 4).eval()


def test_pads_behind_change_nothing(head: TaskHead) -> None:
    alone = head.classify([[3, 4]])
    torch.testing.assert_close(head.classify([[3, 4], [5, 6, 7, 8, 9]])[:1], alone)
    ids = torch.tensor([[20, 3, 4, 22]])
    torch.testing.assert_close(alone, head.linear(head.gpt.hidden(ids)[:, -1]))


def test_similarity_is_symmetric_and_entailment_is_not(head: TaskHead) -> None:
    a, b = [[3, 4, 5]], [[6, 7]]
    torch.testing.assert_close(head.similar(a, b), head.similar(b, a))
    assert (head.entail(a, b) - head.entail(b, a)).abs().max() > 1e-4


def test_one_score_an_answer() -> None:
    torch.manual_seed(0)
    head = TaskHead(GPT(SMALL), 1).eval()
    scores = head.choose([[1, 2], [3]], [[[4], [5, 6], [7]], [[8], [9], [4, 4, 4]]])
    assert scores.shape == (2, 3)
    torch.testing.assert_close(scores[1, 2], head.linear(head.vectors([head.row([3], [4, 4, 4])]))[0, 0])


def test_the_loss_adds_the_language_model(head: TaskHead) -> None:
    texts, labels = [[3, 4, 5], [6]], torch.tensor([1, 2])
    rows, scores = [head.row(t) for t in texts], head.classify(texts)
    nats, count = 0.0, 0
    for row in rows:
        ids = torch.tensor([row])
        nats += F.cross_entropy(head.gpt(ids[:, :-1])[0], ids[0, 1:], reduction="sum").item()
        count += len(row) - 1
    wanted = F.cross_entropy(scores, labels).item() + 0.5 * nats / count
    assert math.isclose(head.loss(scores, labels, rows).item(), wanted, rel_tol=1e-5)
    assert head.loss(scores, labels, rows, 0).item() == F.cross_entropy(scores, labels).item()


def test_the_original_is_left_alone(head: TaskHead) -> None:
    gpt = GPT(SMALL)
    before = gpt.token.weight.clone()
    other = TaskHead(gpt, 2)
    other.classify([[1, 2]]).sum().backward()
    assert torch.equal(gpt.token.weight, before) and gpt.token.weight.grad is None and len(gpt.token.weight) == 20
    with pytest.raises(ValueError, match="outputs=0"):
        TaskHead(gpt, 0)


def test_nats_score_every_token_once() -> None:
    torch.manual_seed(0)
    gpt, stream = GPT(SMALL).eval(), torch.randint(20, (53,))
    with torch.no_grad():
        by_hand = sum(
            F.cross_entropy(gpt(stream[None, max(0, t - 16) : t], last=True)[:, -1], stream[t : t + 1]).item() for t in range(1, 53)
        )
    assert math.isclose(mini_gpt.nats(gpt, stream, stride=1), by_hand, rel_tol=1e-5)
    for stride in (3, 8, 16):
        assert abs(mini_gpt.nats(gpt, stream, stride) / by_hand - 1) < 0.05


def test_saving_and_loading(tmp_path) -> None:
    tokenizer = ByteBPE.train(["the theme of the thesis"] * 3, 262)
    gpt = GPT(GPTConfig(vocab_size=len(tokenizer), d_model=12, num_heads=3, num_layers=1, max_len=16)).eval()
    maker.save(gpt, tokenizer, tmp_path / "m.safetensors")
    again, same = mini_gpt.load_mini_gpt(tmp_path / "m.safetensors")
    assert same.merges == tokenizer.merges and again.config == gpt.config
    ids = torch.tensor([tokenizer.encode("the theme")])
    torch.testing.assert_close(again(ids), gpt(ids), rtol=1e-2, atol=1e-2)
    with pytest.raises(ValueError, match="no mini-GPT"):
        mini_gpt.load_mini_gpt(mini_gpt.FILE.with_name("translator.safetensors"))


def test_the_committed_model_is_small_and_knows_something() -> None:
    assert mini_gpt.FILE.stat().st_size < 1.5e6
    gpt, tokenizer = mini_gpt.load_mini_gpt()
    page = mini_gpt.read_corpus().held_out[0][:3_000]
    assert maker.bits_per_character(gpt, mini_gpt.as_stream(tokenizer, [page]), [page]) < 2.0
