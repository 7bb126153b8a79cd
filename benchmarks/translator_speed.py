"""A training step of our encoder–decoder against nn.Transformer of the same size, and decoding with and without a cache.

    python benchmarks/translator_speed.py [--runs 9] [--min-ratio 1.0]

Steps take turns, so that whatever else the machine does hits both; a figure is the median over the runs. Both models have the
same embeddings, positions and output layer and make the same step (forward, loss, backward, Adam); without dropout their losses
are compared first. Decoding is timed for growing lengths. Writes results/translator_speed.json; fails below the ratio.
"""

import argparse
import sys

import torch
from attention_speed import measure
from report import write
from torch import nn

from course_utils.models.encoder_decoder import CrossDecoder, Translator, TranslatorConfig
from course_utils.models.masks import causal_mask
from course_utils.models.transformer import Encoder
from course_utils.training.schedules import token_loss

CONFIGURATIONS = [  # batch, source tokens, target tokens, d_model, heads, d_ff, layers
    (128, 9, 12, 128, 4, 512, 2),
    (32, 32, 32, 256, 8, 1024, 3),
    (8, 64, 64, 512, 8, 2048, 2),
]
LENGTHS = (16, 32, 64, 128, 256)


class TorchTranslator(Translator):
    """Our embeddings and output layer around PyTorch's own nn.Transformer."""

    def __init__(self, config):
        super().__init__(config)
        del self.encoder, self.decoder
        self.stack = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
            norm_first=config.norm_place == "pre",
        )

    def forward(self, source, target):
        pads = ~self.memory_mask(source)[:, 0]
        hidden = ~causal_mask(target.shape[1])
        x = self.stack(
            self.embed(source, self.source_embedding),
            self.embed(target, self.target_embedding),
            tgt_mask=hidden,
            src_key_padding_mask=pads,
            memory_key_padding_mask=pads,
        )
        return self.output(x)


def training_step(model, source, target):
    """One complete step; returns the function."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad()
        loss = token_loss(model(source, target[:, :-1]), target[:, 1:])
        loss.backward()
        optimizer.step()
        return loss

    return step


def pair(batch, m, n, d_model, heads, d_ff, layers, dropout):
    """Two functions that do the same step, ours and PyTorch's."""
    torch.manual_seed(0)
    config = TranslatorConfig(
        d_model=d_model,
        num_heads=heads,
        d_ff=d_ff,
        num_layers=layers,
        dropout=dropout,
        norm_place="pre",
        source_vocab=64,
        target_vocab=64,
        max_len=512,
    )
    theirs = TorchTranslator(config)
    ours = Translator(config)
    ours.load_state_dict(theirs.state_dict(), strict=False)
    ours.encoder, ours.decoder = Encoder.from_torch(theirs.stack.encoder), CrossDecoder.from_torch(theirs.stack.decoder)
    source, target = torch.randint(3, 64, (batch, m)), torch.randint(3, 64, (batch, n + 1))
    source[::2, -m // 4 :] = 0
    functions = training_step(ours, source, target), training_step(theirs, source, target)
    if dropout == 0:
        torch.testing.assert_close(functions[0](), functions[1](), rtol=1e-4, atol=1e-5)
    return functions


def decoding(length, d_model=128):
    """Two functions that decode ``length`` tokens for 8 sentences: recomputing, and with cached keys and values."""
    torch.manual_seed(0)
    model = Translator(
        TranslatorConfig(
            d_model=d_model, num_heads=4, d_ff=4 * d_model, num_layers=2, dropout=0.0, norm_place="pre", source_vocab=64, target_vocab=64
        )
    ).eval()
    source = torch.randint(3, 64, (8, 16))

    @torch.no_grad()
    def run(cached):
        memory, mask = model.encode(source), model.memory_mask(source)
        caches = model.new_caches() if cached else None
        tokens = torch.ones(8, 1, dtype=torch.long)
        for _ in range(length):
            scores = model.decode(tokens[:, -1:] if cached else tokens, memory, mask, caches)
            tokens = torch.cat([tokens, scores[:, -1:].argmax(-1)], dim=1)

    return (lambda: run(False)), (lambda: run(True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=4, help="calls in a run")
    parser.add_argument("--min-ratio", type=float, default=1.0)
    options = parser.parse_args()
    rows, cached = [], []
    for configuration in CONFIGURATIONS:
        for dropout in (0.0, 0.1):
            ours, theirs = measure(pair(*configuration, dropout), options.runs, options.repeats)
            names = ("batch", "source", "target", "d_model", "num_heads", "d_ff", "layers")
            rows.append(
                dict(zip(names, configuration, strict=True))
                | {"dropout": dropout, "ours_s": ours, "torch_s": theirs, "speed_ratio": theirs / ours}
            )
            print(
                f"{rows[-1]['layers']}+{rows[-1]['layers']} layers, d_model {rows[-1]['d_model']}, dropout {dropout}: "
                f"ours {1e3 * ours:6.1f} ms, torch {1e3 * theirs:6.1f} ms, ratio {theirs / ours:.2f}",
                flush=True,
            )
    for length in LENGTHS:
        slow, fast = measure(decoding(length), max(2, options.runs // 2), 1)
        cached.append({"length": length, "recomputing_s": slow, "cached_s": fast, "speed_ratio": slow / fast})
        print(
            f"decoding {length:3d} tokens: recomputing {1e3 * slow:7.1f} ms, cached {1e3 * fast:6.1f} ms, ratio {slow / fast:.2f}",
            flush=True,
        )
    slowest = min(row["speed_ratio"] for row in rows)
    print(f"smallest training ratio {slowest:.2f}")
    write(
        "translator_speed",
        {
            "runs": options.runs,
            "calls_in_a_run": options.repeats,
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "smallest_ratio": slowest,
            "training": rows,
            "decoding": cached,
        },
    )
    return 0 if slowest >= options.min_ratio else 1


if __name__ == "__main__":
    sys.exit(main())
