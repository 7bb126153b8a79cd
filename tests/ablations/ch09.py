"""Ablations of chapter 09, BERT: pre-training, and of its companion."""

from .ablation import Ablation

LEARNED = "assert yours > usual + 0.25"
EQUAL = "assert yours > mean(course) - 0.06"
TRAINED = "history = train(bert, 1_000)"
STARTED = "torch.manual_seed(0)\nbert = Bert(len(WORDS))"
MIXED = """from random import Random as Mixer
def mixed(document):
    words = [word for sentence in document for word in sentence]
    Mixer(" ".join(words)).shuffle(words)
    return [words[:9], words[9:]]
history = train(bert, 1_000, texts=[mixed(document) for document in documents])"""
WRONG = """def wrong(labels):
    other, asked = labels.clone(), labels != -100
    other[asked] = labels[asked][torch.randperm(int(asked.sum()))]
    return other
history = train(bert, 1_000, change=wrong)"""
CHANGED = 'assert after["unchanged"] > max(worst.values()) + 0.04'
NSP = 'assert right["NSP"] > 0.72 and runs["NSP"][1] < 0.6'

CHAPTER = [
    Ablation(
        "One neighbour on each side tells more than two on the left.",
        "the right neighbour is hidden",
        'assert told["one on each side"] > told["two on the left"] + 0.05',
        before="from course_utils.training.gazette_bert import Neighbours\n"
        "Neighbours._key = staticmethod(lambda ids, place, size: (size, tuple(ids[max(0, place - size[0]) : place])))",
    ),
    Ablation(
        "Four words, on both sides, are best.",
        "the two outer words are hidden",
        'assert told["two on each side"] > max(list(told.values())[:3]) + 0.03',
        '"two on each side": (2, 2)}',
        '"two on each side": (1, 1)}',
    ),
    Ablation(
        "After one layer a hidden key hides the word.",
        "the own key is not hidden",
        "assert not influence[1].diagonal().any()",
        "        scores = scores.masked_fill(torch.eye(n).bool(), -torch.inf)\n",
        "",
    ),
    Ablation("The reader's BERT learns from the order of the words.", "mixed words in the training", LEARNED, TRAINED, MIXED),
    Ablation("It learns from the right answers.", "labels exchanged among the gaps", LEARNED, TRAINED, WRONG),
    Ablation(
        "It is the training of the body that helps.",
        "a body that is left as it starts",
        LEARNED,
        TRAINED,
        "bert.encoder.requires_grad_(False)\nbert.embeddings.requires_grad_(False)\n" + TRAINED,
    ),
    Ablation(
        "The head needs what the body says.",
        "a head that reads nothing",
        LEARNED,
        "        return masked_loss(states, change(labels), bert.head)[0]",
        "        return masked_loss(0 * states, change(labels), bert.head)[0]",
    ),
    Ablation("Twice the steps tell the same story.", "2,000 steps", LEARNED, TRAINED, "history = train(bert, 2_000)", holds=True),
    Ablation(
        "The tables start small, because the scores are products with them.",
        "the tables start large",
        LEARNED,
        "token.weight, std=0.3)",
        "token.weight, std=1.0)",
    ),
    Ablation(
        "The loss starts above even guessing, because the scores start too sure.",
        "scores that start near 0",
        "assert history[0] > math.log(len(WORDS)) + 1",
        "history = train(bert, 1_000)",
        "nn.init.normal_(bert.embeddings.token.weight, std=0.02)\nhistory = train(bert, 1_000)",
    ),
    *(
        Ablation(
            "The reader's BERT keeps up with the course's, whatever the start.",
            f"start number {seed}",
            EQUAL,
            STARTED,
            STARTED.replace("seed(0)", f"seed({seed})"),
            holds=True,
        )
        for seed in (1, 2)
    ),
    Ablation(
        "Each change costs something.", "600 steps in place of 300", CHANGED, "SHORT, after = 300, {}", "SHORT, after = 600, {}", holds=True
    ),
    Ablation(
        "Mixed words leave a part, because they still say what a text is about.",
        "words mixed among all documents",
        'assert part > max(after["no states"], after["wrong answers"]) + 0.01',
        '        more["texts"] = [mixed_up(document) for document in documents]\n',
        "        pool = [[word] for text in documents for sentence in text for word in sentence]\n"
        "        Random(0).shuffle(pool)\n"
        '        more["texts"] = [mixed_up(pool[18 * k : 18 * k + 18]) for k in range(len(documents))]\n',
    ),
    Ablation("Wrong answers cost something.", "the answers stay right", CHANGED, '        more["change"] = exchanged\n', "        pass\n"),
    Ablation(
        "Kept words make a model say what it sees.",
        "no word is kept",
        'assert min(shown["80/10/10"][2]) > 0.8',
        'shown = {recipe: [recorded("shares", recipe, "shown", what)',
        'shown = {recipe: [recorded("shares", recipe.replace("80/10/10", "90/10/0"), "shown", what)',
    ),
    Ablation(
        "Other words make a model doubt what it sees.",
        "no other words",
        'min(shown["80/10/10"][1]) > 0.3',
        'shown = {recipe: [recorded("shares", recipe, "shown", what)',
        'shown = {recipe: [recorded("shares", recipe.replace("80/10/10", "90/0/10"), "shown", what)',
    ),
    Ablation(
        "What next-sentence prediction learns is in its answers.",
        "the run with shuffled labels in its place",
        'assert rows["next sentence"][0] > rows["next sentence"][1] + 0.1',
        '(("next", "next sentence")',
        '(("shuffled", "next sentence")',
    ),
    Ablation(
        "The larger BERT fills far more gaps than any table.",
        "a body that has read nothing",
        "assert score(larger) > counted + 0.2",
        "larger = AsYours(stored)",
        "from course_utils.training.gazette_bert import new_model\nlarger = AsYours(new_model().eval())",
    ),
    Ablation(
        "The larger BERT knows kinds of things and which words praise.",
        "the reader's BERT is asked in its place",
        "assert kind > 0.9 and praise > 0.9",
        '"the larger one": larger}',
        '"the larger one": bert}',
    ),
    Ablation(
        "Behind *not* it says *hated*, praise or blame.",
        "the *not* is left out",
        "assert hated > 70",
        '"the bread was not {} . so',
        '"the bread was {} . so',
    ),
]

DEEPER = [
    Ablation(
        "Next-sentence prediction is learned.",
        "the labels are shuffled",
        NSP,
        '"NSP": train_and_test(NSP)',
        '"NSP": train_and_test(shuffled(NSP))',
    ),
    Ablation(
        "The head learns from the state of [CLS].",
        "a head that reads no state",
        NSP,
        before="from course_utils.experiments.ch09_pairs import PairHead\n"
        "PairHead.forward = lambda self, *row: self.head(0 * self.bert(*row)[:, 0])",
    ),
    Ablation(
        "Sentence order is learned from pairs that are exchanged.",
        "the labels are shuffled as well",
        'assert right["SOP"] > 0.85 and runs["SOP"][1] < 0.4',
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
        "Adding three vectors is one linear layer on all three.",
        "one of the three is left out",
        "assert difference < 1e-4",
        "ones = [F.one_hot(ids, 40), F.one_hot(segments, 2),",
        "ones = [F.one_hot(ids, 40), 0 * F.one_hot(segments, 2),",
    ),
    Ablation(
        "Gaps that never change are learned by heart.",
        "the run with ten sets of gaps in its place",
        'assert max(repeated["always the same"]) < min(',
        '"always the same": "one"',
        '"always the same": "ten"',
    ),
]
ABLATIONS = [*CHAPTER, *DEEPER]
