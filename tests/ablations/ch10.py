"""Ablations of chapter 10, Fine-tuning BERT."""

from .ablation import Ablation

SCRATCH = "train_classifier(new_model(k).bert, k)"
ABLATIONS = [
    Ablation(
        "Without pre-training the judging words that no label has shown are guessed.",
        "the pre-trained body in place of the random one",
        "assert scratch[:, 2].max() < 0.65",
        SCRATCH,
        'train_classifier(__import__("course_utils.training.gazette_bert", fromlist=["x"]).gazette_body()[0], k)',
    ),
    Ablation(
        "The body fills gaps better than every table of neighbours.",
        "a body that has read nothing",
        "assert found.accuracy > max(map(max, tables.values())) + 0.08",
        "found = score(reader, batch)",
        "found = score(new_model().eval(), batch)",
    ),
    Ablation(
        "With the pre-trained body words that no label has shown are judged rightly.",
        "a random body judges",
        "assert (pretrained[:, 2] > scratch[:, 2] + 0.2).all()",
        "readers = [train_classifier(gazette_body()[0], k)",
        "readers = [train_classifier(new_model(k + 9).bert, k)",
    ),
    Ablation(
        "The labels teach the pre-trained body what to say.",
        "the labels shuffled",
        "assert (pretrained[:, 2] > scratch[:, 2] + 0.2).all()",
        "    model = head(body, 2)\n",
        "    model = head(body, 2)\n    wanted = wanted[torch.randperm(count)]\n",
    ),
    Ablation(
        "The full stop reports the sentence as well as [CLS] does.",
        "a head that reads nothing",
        'assert min(places[n].min() for n in ("mean", "full stop", "first word")) > 0.8',
        '"full stop": FullStop',
        '"full stop": ReadsNothing',
    ),
    Ablation(
        "A sentence whose words are hidden tells nothing.",
        "the words are shown",
        'assert places["nothing"].max() < 0.6',
        "        ids = torch.where(ids > WORDS.mask_id, WORDS.mask_id, ids)\n",
        "",
    ),
    Ablation(
        "What is read off the vectors comes from pre-training.",
        "a random body in place of the pre-trained one",
        'assert max(probes["pre-trained, mean"]) > max(probes["random, mean"]) + 0.15',
        '(("pre-trained", body), ("random", new_model(0).bert))',
        '(("pre-trained", new_model(3).bert), ("random", new_model(0).bert))',
    ),
    Ablation(
        "From 50 labels the pre-trained body finds names that a random one does not find.",
        "a random body tags",
        'assert min(f1["pre-trained"]) > max(f1["from scratch"]) + 0.08',
        '("pre-trained", lambda k: gazette_body()[0]))}',
        '("pre-trained", lambda k: new_model(k + 9).bert))}',
    ),
    Ablation(
        "From 200 questions the pre-trained body learns to answer.",
        "a random body answers",
        'assert exact["pre-trained"] > max(0.85, exact["from scratch"] + 0.1)',
        '("pre-trained", gazette_body()[0]))}\nexact',
        '("pre-trained", new_model(9).bert))}\nexact',
    ),
    Ablation(
        "Windows find answers that cutting off loses.",
        "the first window only",
        'assert right["windows"] > right["cut off"] + 10',
        "    rows, starts, _ = windows(words, room, stride, [0, 0])\n",
        "    rows, starts, _ = windows(words[:room], room, stride, [0, 0])\n",
    ),
    Ablation(
        "Reading helps to compare two sentences.",
        "a random body compares",
        'assert rows["pre-trained, 200 labels"] > rows["from scratch, 200 labels"] + 0.15',
        '("pre-trained", gazette_body()[0])):\n    pair_model',
        '("pre-trained", new_model(9).bert)):\n    pair_model',
    ),
    Ablation(
        "The merged body computes what the body with its changes did.",
        "the changes are dropped instead of merged",
        "torch.testing.assert_close(after, before)",
        "after = merge(model.bert)(*unseen[:3])",
        "after = gazette_body()[0](*unseen[:3])",
    ),
    Ablation(
        "Changes of low rank learn the task.",
        "no gradient reaches the changes",
        "assert adapted > 0.85",
        "    return add_low_rank(gazette_body()[0], rank, change=LowRank)",
        "    return add_low_rank(gazette_body()[0], rank, change=LowRank).requires_grad_(False)",
    ),
    Ablation(
        "With 50 labels the small word not is overlooked or misunderstood, with 200 less so.",
        "50 labels both times",
        "assert all(min(b[1:]) > min(a[1:]) + 0.2 for a, b in zip(few, many))",
        "[train_classifier(gazette_body()[0], k, 200)",
        "[train_classifier(gazette_body()[0], k, 50)",
    ),
    Ablation(
        "What the reading adds is added for sentences that were not read, too.",
        "a random body for the readers' row",
        "assert new_1 > new_0 + 0.2 and old_1 - new_1 < 0.1",
        '("pre-trained", readers)):\n    with torch',
        '("pre-trained", beginners)):\n    with torch',
    ),
    Ablation(
        "Behind so the untouched body judges the pairs about things.",
        "an untrained body judges",
        'assert judged["after so"] > 0.95 and judged["as they stand"] < 0.6',
        "scores = reader(torch.tensor([shown.ids])",
        "scores = new_model().eval()(torch.tensor([shown.ids])",
    ),
]
