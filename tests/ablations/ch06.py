"""Ablations of chapter 06, Masking."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A model without a mask learns nothing but to read the answer.",
        "a mask",
        "assert cheated < 0.2",
        "unmasked, history_unmasked = trained(mask=None)",
        "unmasked, history_unmasked = trained(mask=torch.ones(n, n).tril().bool())",
    ),
    Ablation(
        "A mask acts in the forward pass, without any update.",
        "no mask in either pass",
        "assert change[:4].max() > 0.1",
        "with_mask, _ = scaled_dot_product_attention(q, k, v, keep)",
        "with_mask, _ = scaled_dot_product_attention(q, k, v)",
    ),
    Ablation(
        "With the padding mask a sentence comes out the same whoever shares its batch.",
        "no padding mask",
        'assert gaps["without a mask"] > 0.05',
        '"with the padding mask": padding}',
        '"with the padding mask": None}',
    ),
    Ablation(
        "With the source's padding mask nothing on a pad reaches the target.",
        "other content on the real tokens too",
        'assert moved["no mask"] > 0.1',
        "other = source + pads[..., None] * torch.randn(3, 5, 12)",
        "other = source + torch.randn(3, 5, 12)",
    ),
    Ablation(
        "Averages over losses must leave the pads out.",
        "pads counted",
        "assert abs(over_words - ignored) < 1e-5",
        "(wanted != 0)[None]",
        "(wanted >= 0)[None]",
    ),
    Ablation(
        "A hidden NaN reaches output and gradient through 0 times NaN.",
        "a finite number on the pad",
        'assert in_value == ["no"] * 4 and zeroed',
        "bad = torch.tensor([0.0, 0.0, torch.nan])",
        "bad = torch.tensor([0.0, 0.0, 1e3])",
    ),
    Ablation(
        "Pads that are set to 0 do no harm.",
        "pads left as they are",
        'assert in_value == ["no"] * 4 and zeroed',
        "cleaned = (good + bad).masked_fill(~real[:, None], 0.0)",
        "cleaned = good + bad",
    ),
    Ablation(
        "The gradient misses a detached statistic.",
        "the statistic not detached",
        "assert list(future.values()) ==",
        "x - x.mean(0).detach()",
        "x - x.mean(0)",
    ),
    Ablation(
        "Pushing finds what the gradient misses.",
        "pushes that hardly push",
        "assert list(future.values()) ==",
        "other[j] += 5 * torch.randn(x.shape[1])",
        "other[j] += 1e-3 * torch.randn(x.shape[1])",
    ),
    Ablation(
        "The detectors tell a masked model from one without a mask.",
        "no mask in either model",
        "assert found == ",
        "model.from_vectors(x[None], mask_for(8))[0]",
        "model.from_vectors(x[None], None)[0]",
    ),
    Ablation(
        "A prompt needs the mask at inference, too.",
        "the mask kept both times",
        "assert changes[0].max() < 1e-4",
        "for mask in (masks.causal_mask(n), None):\n        changes",
        "for mask in 2 * [masks.causal_mask(n)]:\n        changes",
    ),
    Ablation(
        "Packed texts need a mask between them.",
        "no mask between the texts",
        "assert max(both) < 1e-5 and max(plain[0], apart[0])",
        "                (anew, causal_mask(14) & same_text)}",
        "                (anew, causal_mask(14))}",
    ),
    Ablation(
        "Packed texts need positions that begin anew.",
        "the texts apart, positions that run on",
        "assert max(both) < 1e-5 and max(plain[0], apart[0])",
        "anew = torch.cat([torch.arange(n) for n in (5, 3, 6)])",
        "anew = torch.arange(14)",
    ),
    Ablation(
        "Behind pads on the left positions count from the first word.",
        "counted from the first pad both times",
        "assert counted_from_word < 1e-5",
        "(torch.arange(7) - 2).clamp(min=0)}",
        "torch.arange(7)}",
    ),
]
