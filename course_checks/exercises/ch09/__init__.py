"""Exercises of chapter 09, pre-training BERT. Oracles: searches over all splits, one-hot products, loops, torch.nn, autograd."""

from .embeddings import EMBEDDINGS
from .head import HEAD
from .leak import LEAK
from .loss import LOSS
from .masking import MASKING
from .pair_masks import PAIR_MASKS
from .pairs import PAIRS
from .pieces import PIECES

EXERCISES = (PIECES, PAIRS, EMBEDDINGS, MASKING, LOSS, HEAD, LEAK, PAIR_MASKS)
