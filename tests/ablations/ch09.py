"""Ablations of chapter 09, BERT: pre-training."""

from .ablation import Ablation

MIXED = """models, curves = {}, {}
from random import Random
def mixed_up(document):
    words = [word for sentence in document for word in sentence]
    Random(" ".join(words)).shuffle(words)
    return [words[:9], words[9:]]
documents = [mixed_up(document) for document in documents]
"""
ABLATIONS = [
    Ablation(
        "A neighbour on each side tells more than two on the left.",
        "the right neighbour is hidden",
        'assert filled["left and right"] > 1.3 * two > 1.3 * 1.3 * one',
        "[*sentence[1:], None])",
        "[None] * len(sentence))",
    ),
    Ablation(
        "The nearest row of each table is the summand.",
        "the sum has nothing to do with the tables",
        'assert max(recovered["d = 4"][:2]) < 0.5 and min(recovered["d = 64"]) > 0.9',
        "    x = sum(t[i] for t, i in zip(tables, k))",
        "    x = torch.randn(2_000, d)",
    ),
    Ablation(
        "The logits of tokens that are not asked for get no gradient.",
        "all tokens are asked for",
        "assert at_logits[others].max() == 0 < at_logits[5]",
        "labels = torch.full_like(ids, IGNORED)\nlabels[0, 5]",
        "labels = ids.clone()\nlabels[0, 5]",
    ),
    Ablation(
        "To guess two neighbours at once costs something.",
        "the first word stays hidden the second time",
        "assert gain.mean() > 3 * error",
        "    two[[k, k + 1]] = one[k + 1] = mini_tokenizer.mask_id\n",
        "    two[[k, k + 1]] = mini_tokenizer.mask_id\n    one = two.clone()\n",
    ),
    Ablation(
        "Pre-training fills more gaps than neighbours do.",
        "the words of every document are shuffled before the training",
        "assert small.accuracy > beside + 0.04",
        "models, curves = {}, {}\n",
        MIXED,
    ),
    Ablation(
        "After 1,000 steps the model beats the table that knows as little as it does.",
        "the table is told the words in other gaps",
        "assert small.accuracy > beside + 0.04",
        "beside, fair = (row[0] for",
        "beside, fair = (row[1] for",
    ),
    Ablation(
        "The stored model beats every table.",
        "a body that has read nothing",
        "assert found.accuracy > max(map(max, tables.values())) + 0.08",
        "stored, _ = gazette_model()",
        "stored = new_model().eval()",
    ),
    Ablation(
        "The stored model knows kinds of things and which words praise.",
        "the model of 1,000 steps is asked in its place",
        "assert kinds > 0.9 and praise > 0.9",
        '"8,000 steps": stored}',
        '"8,000 steps": models["80/10/10"]}',
    ),
    Ablation(
        "Kept words make a model say what it sees.",
        "no word is kept",
        'assert mixed["the word"] > 0.7 and pure["the word"] < 0.2',
        '"80/10/10": (0.8, 0.1, 0.1)',
        '"80/10/10": (0.9, 0.1, 0.0)',
    ),
    Ablation(
        "Few gaps mean slow learning.",
        "a quarter of the words are gaps",
        "assert score(rare, batch).accuracy < small.accuracy - 0.1",
        "rate=0.05",
        "rate=0.25",
    ),
    Ablation(
        "Next-sentence prediction is learned.",
        "the labels are shuffled",
        'assert share(runs["NSP"][0]["next"]) > 0.72 and losses["NSP"] < 0.6',
        '"NSP": train_and_test(NSP)',
        '"NSP": train_and_test(shuffled(NSP))',
    ),
    Ablation(
        "The head learns from the state of [CLS].",
        "a head that reads nothing",
        'assert share(runs["NSP"][0]["next"]) > 0.72 and losses["NSP"] < 0.6',
        before="from course_utils.experiments.ch09_pairs import PairHead\n"
        "PairHead.forward = lambda self, *row: self.head(0 * self.bert(*row)[:, 0])",
    ),
    Ablation(
        "Sentence order is learned from pairs that are exchanged.",
        "the labels are shuffled as well",
        'assert share(runs["SOP"][0]["order"]) > 0.85 and losses["SOP"] < 0.4',
        '"SOP": train_and_test(SOP)',
        '"SOP": train_and_test(shuffled(SOP))',
    ),
    Ablation(
        "With a B from any other document, the topic is what is learned first.",
        "every wrong B has the same topic",
        'assert nsp["other document, same topic"] > 0.4',
        'NSP = pair_tensors(make_pairs("next", 4_800))',
        'NSP = pair_tensors(make_pairs("same topic", 4_800))',
    ),
    Ablation(
        "One head looks across to the answer.",
        "a body that has read nothing looks at the pair",
        "assert look[2][0, 0, gap, thing] > 0.9",
        "look = stored.bert.look(ids, segments)[1]",
        "look = new_model().bert.look(ids, segments)[1]",
    ),
    Ablation(
        "Some gaps need the other text.",
        "attention may cross over in both cases",
        "assert both > apart + 0.06",
        "    mask = pair_mask(asked.segments, asked.mask, kind)",
        '    mask = pair_mask(asked.segments, asked.mask, "everything")',
    ),
]
