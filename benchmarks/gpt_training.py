"""What chapter 11a's small GPT gains from more steps, and what it loses when only the last row of each window trains.

    python benchmarks/gpt_training.py [--threads 2] [--seeds 0 1 2] [--only steps rows]

"steps": the model of section 5, trained for 650 steps as there and for 1,300, everything else alike; nats per token and bits per
character on the held-out pages, and nats per token on as much of the training text. "rows": the smaller model of section 4, its loss
taken over all 32 rows of each window or over the last one. Writes results/gpt_training.json after every part; parts that were not
run keep what is there.
"""

import argparse
import json
import math
import os

import torch
from report import HERE, write
from torch.nn import functional as F

from course_utils.models.gpt import GPT, GPTConfig
from course_utils.text.bpe import ByteBPE
from course_utils.training.loop import fit
from course_utils.training.mini_gpt import as_stream, nats, read_corpus, window_loss
from course_utils.training.schedules import warmup_cosine


def steps(seed, stream, held, characters):
    """Held-out figures after each number of steps."""
    found = {}
    for count in (650, 1_300):
        torch.manual_seed(seed)
        model = GPT(GPTConfig(vocab_size=1_024, d_model=128, num_heads=4, num_layers=2, max_len=64, dropout=0.0))
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        loss = window_loss(model, stream, 16, torch.Generator().manual_seed(seed))
        fit(model, loss, count, 3e-3, optimizer=optimizer, clip=1.0, schedule=warmup_cosine(count, 195, floor=0.02))
        total, known = nats(model, held, stride=16), stream[:len(held)]
        found[str(count)] = {"nats per token": total / (len(held) - 1), "bits per character": total / math.log(2) / characters,
                             "nats per token, training text": nats(model, known, stride=16) / (len(known) - 1)}
    return found


def rows(seed, stream, held, characters):
    """Held-out nats per token, with the loss over all rows and over the last one."""
    found = {}
    for count in (32, 1):
        torch.manual_seed(seed)
        model = GPT(GPTConfig(vocab_size=1_024, d_model=64, num_heads=4, num_layers=1, max_len=32, dropout=0.0))
        g = torch.Generator().manual_seed(seed)

        def loss(model=model, g=g, count=count):
            ids = stream[torch.randint(len(stream) - 33, (16, 1), generator=g) + torch.arange(33)]
            logits = model(ids[:, :-1])
            return F.cross_entropy(logits[:, -count:].flatten(0, 1), ids[:, -count:].flatten())

        fit(model, loss, 150, 5e-3, schedule=warmup_cosine(150, 40))
        found[str(count)] = nats(model, held) / (len(held) - 1)
    return found


PARTS = {f.__name__: f for f in (rows, steps)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=None, help="threads of PyTorch (default: as it finds the machine)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    corpus = read_corpus()
    tokenizer = ByteBPE.train(corpus.training, 1_024)
    stream, held = as_stream(tokenizer, corpus.training), as_stream(tokenizer, corpus.held_out)
    characters = sum(len(page) + 1 for page in corpus.held_out)
    path = HERE / "results" / "gpt_training.json"
    for part in options.only:
        found = {str(seed): PARTS[part](seed, stream, held, characters) for seed in options.seeds}
        print(part, json.dumps(found), flush=True)
        kept = json.loads(path.read_text())["parts"] if path.exists() else {}
        write("gpt_training", {"threads": torch.get_num_threads(), "parts": kept | {part: found}})


if __name__ == "__main__":
    main()
