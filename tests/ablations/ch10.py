"""Ablations of chapter 10, Fine-tuning BERT, and of its companion."""

from .ablation import Ablation

GUESSES = "assert scratch[:, 2].max() < 0.65 and scratch[:, 0].max() < 0.75"
GAINS = "assert pretrained[:, 2].min() > scratch[:, 2].max() + 0.15"
COMPANY = "assert counted[:, 2].min() > 0.8 and abs(bag - 0.62) < 0.04"
FULL_STOP = 'assert controls["full stop"] > 0.8 and controls["random body"] < 0.75'
NOTHING = 'assert controls["labels shuffled"] < 0.7 and controls["words hidden"] < 0.6'
FORGETS = "assert min(kept[1e-3]) > before - 0.06 and min(kept[3e-3]) < before - 0.05"
RUINED = "assert mean_of(judged[1e-2]) < mean_of(judged[1e-3]) - 0.08"
FORMS = "assert [share > 0.9 for share in known_forms] == [0, 1, 0, 1, 1, 0]"
PLACE = 'assert min(moved["form 1"][4:] + moved["form 3"][4:]) > 0.95'
PAIRS = "assert min(behind_stops[:3]) > 0.95 and 0.7 < behind_stops[3] < 0.95"
COMPOSED = "assert composed[0] < 0.2 and composed[1] > 0.6"
UNTOUCHED = "assert untouched > 360"
IN_FRONT = '    return ". " * k + text\n'
RANK = 'assert right["rank 8"] > 0.75 and right["the head alone"] < 0.6'
ANSWERS = "assert exact(finder, unseen) > 0.85"
CLOUDS = "assert (flat[:40] > 0).all() and (flat[40:] < 0).all()"
NEUTRAL = "assert confusion[2, 2] > 0.9 and confusion[0, 0] < 0.8"
RANDOM = "[new_model(draw).bert for draw in range(3)]"
COPIES = '"pre-trained body": [copy.bert for copy in copies]'
EPOCHS = "for _ in range(20) for rows in torch.randperm(50)"

CHAPTER = [
    Ablation(
        "Without pre-training the judging words that no label has shown are guessed.",
        "the pre-trained body in place of the random one",
        GUESSES,
        RANDOM,
        "[gazette_body()[0] for draw in range(3)]",
    ),
    Ablation(
        "The random body guesses new words, however long it learns.",
        "twice as many passes",
        GUESSES,
        EPOCHS,
        "for _ in range(40) for rows in torch.randperm(50)",
        holds=True,
    ),
    Ablation("With the pre-trained body new words are judged rightly.", "a random body", GAINS, COPIES, f'"pre-trained body": {RANDOM}'),
    Ablation(
        "The gain stays when both learn longer.",
        "twice as many passes for both",
        GAINS,
        EPOCHS,
        "for _ in range(40) for rows in torch.randperm(50)",
        holds=True,
    ),
    Ablation(
        "The labels teach the body what to say.",
        "labels dealt out at random",
        GAINS,
        "    data = data._replace(labels=change(data.labels))\n",
        "    data = data._replace(labels=data.labels[torch.randperm(50)])\n",
    ),
    Ablation(
        "The company of words, counted, is enough for opinions.",
        "documents of one word each",
        COMPANY,
        "company_vectors(gazette.documents(5_000))",
        "company_vectors([[document[0][:1]] for document in gazette.documents(5_000)])",
    ),
    Ablation(
        "The full stop reports the sentence as well as [CLS] does.",
        "a head that reads nothing",
        FULL_STOP,
        "head=FullStop",
        "head=ReadsNothing",
    ),
    Ablation(
        "With shuffled labels nothing is left.",
        "the labels stay in their order",
        NOTHING,
        "    return labels[torch.randperm(50, generator=g)]",
        "    return labels",
    ),
    Ablation(
        "A sentence whose words are hidden tells nothing.",
        "the words are shown",
        NOTHING,
        "        ids = torch.where(ids > WORDS.mask_id, WORDS.mask_id, ids)\n",
        "",
    ),
    Ablation(
        "Fine-tuning at a larger rate makes the body forget.",
        "the untouched body is asked",
        FORGETS,
        "    kept[lr] = [score(copy, gaps).accuracy for copy in again]",
        "    kept[lr] = [before for copy in again]",
    ),
    Ablation(
        "The largest rate spoils the judging, too.",
        "a third of it",
        RUINED,
        "guesses = [learn(again[k].bert, k, lr)",
        "guesses = [learn(again[k].bert, k, min(lr, 3e-3))",
    ),
    Ablation(
        "Pre-training sorts the judging words into two clouds.",
        "a random body in its place",
        CLOUDS,
        '"pre-trained body": gazette_body()[0].look(eighty)[0]',
        '"pre-trained body": new_model(3).bert.look(eighty)[0]',
    ),
    Ablation(
        "From 200 questions the pre-trained body learns to answer.",
        "a random body answers",
        ANSWERS,
        'finder = ch10_heads.fine_tune("answers", body, questions)',
        'finder = ch10_heads.fine_tune("answers", new_model(9).bert, questions)',
    ),
    Ablation(
        "A change of low rank learns the task.",
        "no gradient reaches the changes",
        RANK,
        '"rank 8": with_changes(8),',
        '"rank 8": with_changes(8).requires_grad_(False),',
    ),
    Ablation(
        "The head alone is not enough for answers.",
        "the body learns with it",
        RANK,
        '"the head alone": gazette_body()[0].requires_grad_(False)}',
        '"the head alone": gazette_body()[0]}',
    ),
    Ablation(
        "The body knows what a pair speaks of.",
        "a random body compares",
        NEUTRAL,
        "model = lambda: Classifier(gazette_body()[0], 96, 3)",
        "model = lambda: Classifier(new_model(9).bert, 96, 3)",
    ),
    Ablation(
        "The body answers in the forms in which it has read.",
        "a body that has read nothing",
        FORMS,
        "    best = reader(rows)[0][rows == WORDS.mask_id].argmax(-1)\n",
        "    best = new_model().eval()(rows)[0][rows == WORDS.mask_id].argmax(-1)\n",
    ),
    Ablation(
        "It is the place of the gap that lets forms 1 and 3 be answered.",
        "the full stops stand behind the text, so that the gap stays where it was",
        PLACE,
        IN_FRONT,
        '    return text + " ." * k\n',
    ),
    Ablation(
        "It is the place alone, not the full stops.",
        "the text stays as it is, and all places behind [CLS] are counted k higher",
        PLACE,
        IN_FRONT,
        "    table = reader.bert.embeddings.position.weight\n"
        "    table.data[1 : 64 - k] = gazette_body()[0].embeddings.position.weight.data[1 + k :]\n"
        "    return text\n",
        holds=True,
    ),
    Ablation(
        "Behind five full stops the untouched body judges the pairs about things, homes and towns.",
        "no full stop in front",
        PAIRS,
        'five = ["."] * 5\n',
        "five = []\n",
    ),
    Ablation(
        "The gap judges pairs because of what the body has read.",
        "a body that has read nothing judges",
        PAIRS,
        "    logits = reader(torch.tensor([row.ids]), torch.tensor([row.segments]))[0]\n",
        "    logits = new_model().eval()(torch.tensor([row.ids]), torch.tensor([row.segments]))[0]\n",
    ),
    Ablation(
        "What has to be put together must be trained: the head alone does not understand not.",
        "the body stays frozen both times",
        COMPOSED,
        'body = gazette_body()[0].requires_grad_(name == "all weights")',
        "body = gazette_body()[0].requires_grad_(False)",
    ),
    Ablation(
        "The clouds were there: after so they the untouched body judges without a label.",
        "a body with random weights is asked",
        UNTOUCHED,
        "    fills = reader(*hints[:3])[0][hints.ids == WORDS.mask_id].argmax(-1)\n",
        "    fills = new_model().eval()(*hints[:3])[0][hints.ids == WORDS.mask_id].argmax(-1)\n",
    ),
]
NOT = "assert sum(many) / 3 > sum(few) / 3 + 0.2"
NAMES = 'assert f1["pre-trained"] > 0.9 > f1["random body"] > f1["usual tag"]'
COMPANION = [
    Ablation(
        "From 50 texts the pre-trained body finds names that a random one does not find.",
        "a random body tags",
        NAMES,
        '("pre-trained", gazette_body()[0])',
        '("pre-trained", new_model(9).bert)',
    ),
    Ablation(
        "With 50 labels the small word not is misunderstood, with 200 less so.",
        "50 labels both times",
        NOT,
        'tensors("opinions", examples("opinions", n, k)[0]), k)',
        'tensors("opinions", examples("opinions", 50, k)[0]), k)',
    ),
]

ABLATIONS = [*CHAPTER, *COMPANION]
