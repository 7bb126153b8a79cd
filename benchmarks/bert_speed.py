"""Speed of our BERT encoder against Hugging Face's BertModel with the same weights, forward and backward, on padded sentences.

    python benchmarks/bert_speed.py [--runs 9] [--repeats 2] [--min-ratio 1.0]

Needs the extra [pretrained] and transformers. The sentences are the opinions, pairs and passages of chapter 10, so that rows have
the padding that real text has. The two take turns, so that whatever else the machine does hits both; a figure is the median of
the ratios of neighbouring runs. Outputs at real tokens and one gradient are compared first, without dropout, to 1e-4. Then both are
measured as they are trained, with dropout 0.1, and without. Writes results/bert_speed.json; fails when training is below the ratio.
"""

import argparse
import statistics
import sys
import time

import torch
from report import write
from transformers import BertModel

from course_utils.experiments.ch10_finetuning import collate
from course_utils.models.pretrained import installed, load_bert
from course_utils.text import labelled
from course_utils.text.wordpiece import WordPiece

CONFIGURATIONS = [("opinions", 8), ("opinions", 32), ("pairs", 16), ("passages", 4), ("passages", 12)]


def texts(kind, tokenizer):
    """Encoded sentences of one kind."""
    if kind == "opinions":
        return [tokenizer.encode(item.text) for item in labelled.sentiment()]
    if kind == "pairs":
        return [tokenizer.encode(item.first, item.second) for item in labelled.pairs()]
    return [tokenizer.encode(item.question, item.passage) for item in labelled.questions()]


def functions(batch, ours, theirs):
    """Two functions that do the same forward and backward pass; checked to be equal."""
    ids, segments, mask = batch

    def mine():
        ours.zero_grad()
        hidden = ours(ids, segments, mask)
        hidden[mask].square().mean().backward()
        return hidden

    def other():
        theirs.zero_grad()
        hidden = theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long()).last_hidden_state
        hidden[mask].square().mean().backward()
        return hidden

    ours.eval(), theirs.eval()
    torch.testing.assert_close(mine()[mask], other()[mask], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        ours.embeddings.segment.weight.grad, theirs.embeddings.token_type_embeddings.weight.grad, rtol=1e-3, atol=1e-4
    )
    return mine, other


def seconds(function, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=2, help="calls in a run")
    parser.add_argument("--min-ratio", type=float, default=1.0)
    options = parser.parse_args()
    if installed() is None:
        sys.exit("this benchmark needs the extra [pretrained]")
    tokenizer = WordPiece.from_file(installed() / "vocab.txt")
    ours, theirs = load_bert(installed()), BertModel.from_pretrained(installed()).eval()
    rows = []
    for kind, size in CONFIGURATIONS:
        batch = collate(texts(kind, tokenizer)[:size])
        mine, other = functions(batch, ours, theirs)
        for training in (True, False):
            ours.train(training), theirs.train(training)
            times = []
            for run in range(options.runs):  # each begins every other run
                order = (mine, other) if run % 2 else (other, mine)
                pair = {function: seconds(function, options.repeats) for function in order}
                times.append((pair[mine], pair[other]))
            row = {
                "texts": kind,
                "batch": size,
                "tokens": batch[0].shape[1],
                "real_share": batch[2].double().mean().item(),
                "dropout": 0.1 if training else 0.0,
                "ours_s": statistics.median(a for a, _ in times),
                "theirs_s": statistics.median(b for _, b in times),
                "speed_ratio": statistics.median(b / a for a, b in times),
            }
            rows.append(row)
            print(
                f"{kind:9s} batch {size:2d}, {row['tokens']:3d} tokens, {row['real_share']:.0%} real, dropout {row['dropout']}: ours "
                f"{1e3 * row['ours_s']:6.1f} ms, BertModel {1e3 * row['theirs_s']:6.1f} ms, ratio {row['speed_ratio']:.2f}",
                flush=True,
            )
    slowest, plain = (min(row["speed_ratio"] for row in rows if bool(row["dropout"]) is wanted) for wanted in (True, False))
    print(f"smallest ratio {slowest:.2f} in training, {plain:.2f} without dropout")
    write(
        "bert_speed",
        {
            "runs": options.runs,
            "calls_in_a_run": options.repeats,
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "smallest_ratio": slowest,
            "smallest_without_dropout": plain,
            "configurations": rows,
        },
    )
    return 0 if slowest >= options.min_ratio else 1


if __name__ == "__main__":
    sys.exit(main())
