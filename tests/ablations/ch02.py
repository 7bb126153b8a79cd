"""Ablations of chapter 02, Recurrent networks and soft alignment, and of its companion."""

from .ablation import Ablation

LOOKS = 'assert right["your decoder looks"][8] > right["one vector"][8]'
CHOOSES = 'assert right["your decoder looks"][8] > right["even weights"][8]'
MINE = "lambda: AttentionDecoder(10, 32), "
STEPS = "def on_numbers(decoder, label, steps=360):"
JUMPS = 'assert rows["German"][1] > 0.75'
SPELLED = "words = [bare(spelled(n, language)) for n in numbers]"
OPEN = 'assert left["LSTM, gate at 0.95"] > 1e-3'

CHAPTER = [
    Ablation(
        "The gradient of a recurrent layer vanishes because each step multiplies it by less than 1.",
        "a matrix U six times as large",
        'assert left["your ElmanRNN"] < 1e-10',
        "sizes = {name: reach(layer) for name, layer in layers.items()}",
        'layers["your ElmanRNN"].u.weight.data *= 6\nsizes = {name: reach(layer) for name, layer in layers.items()}',
    ),
    Ablation("An open forget gate lets the gradient through.", "the gate half open", OPEN, "32:64] += 3.0", "32:64] += 0.0"),
    Ablation(
        "It is the forget gate that lets it through.",
        "the input gate opened in its place",
        OPEN,
        "keeping.bias_ih_l0[32:64] += 3.0",
        "keeping.bias_ih_l0[:32] += 3.0",
    ),
    Ablation(
        "A long number does not fit through one vector.",
        "no number of more than four digits in the test",
        'assert right["one vector"][2] > 0.95 and right["one vector"][8] < 0.85',
        "digits = torch.randint(0, 10, (200, length))",
        "digits = torch.randint(0, 10, (200, min(length, 4)))",
    ),
    Ablation(
        "Looking helps.", "one vector in both places", LOOKS, MINE + '"your decoder")', 'lambda: PlainDecoder(10, 32), "your decoder")'
    ),
    Ablation(
        "Twice the training tells the same story of looking.", "twice as many steps", LOOKS, STEPS, STEPS.replace("360", "720"), holds=True
    ),
    Ablation(
        "Looking is learned faster than one vector, however long both train.",
        "twice as many steps, of both decoders with a mean",
        CHOOSES,
        STEPS,
        STEPS.replace("360", "720"),
        holds=True,
    ),
    Ablation(
        "It is the choosing that helps, and not seeing the source again.",
        "the weights of your decoder frozen at the start",
        LOOKS,
        MINE + '"your decoder")',
        'lambda: (d := AttentionDecoder(10, 32), d.attend.v.weight.data.zero_(), d.attend.requires_grad_(False))[0], "your decoder")',
    ),
    Ablation(
        "Decoders with frozen weights fall like one vector.",
        "weights that may choose",
        'assert right["even weights"][8] < 0.82',
        "    decoder.attend = EvenWeights()\n",
        "",
    ),
    Ablation(
        "It helps to look, and not to have more numbers to learn.",
        "one vector of 40 numbers: more to learn than your decoder has",
        LOOKS,
        "    model = Translator(decoder(), Encoder(10, 32))\n",
        "    made = decoder()\n"
        "    made = PlainDecoder(10, 40) if isinstance(made, PlainDecoder) else made\n"
        "    model = Translator(made, Encoder(10, made.embed.embedding_dim))\n",
        holds=True,
    ),
    Ablation(
        "It also does well when nobody tells it the right symbol before.",
        "each decoder goes on from the symbols that it wrote itself",
        'assert right["your decoder looks"][8] > right["one vector"][8] + 0.12',
        "def accuracy(model, length):\n    digits = torch.randint(0, 10, (200, length))\n    with torch.no_grad():\n",
        "def accuracy(model, length):\n    digits = torch.randint(0, 10, (200, length))\n    with torch.no_grad():\n"
        "        wrote = torch.zeros_like(digits)\n"
        "        for t in range(length):\n"
        "            wrote[:, t] = model(digits, wrote)[0][:, t].argmax(-1)\n"
        "        return (wrote == digits).float().mean()\n",
        holds=True,
    ),
    Ablation(
        "The third digit is read before the second because German says it earlier.",
        "English words in their place",
        JUMPS,
        SPELLED,
        'words = [bare(spelled(n, "en")) for n in numbers]',
    ),
    Ablation(
        "In English the order stays, because its words keep it.",
        "German words in their place",
        JUMPS,
        SPELLED,
        'words = [bare(spelled(n, "de")) for n in numbers]',
    ),
    Ablation(
        "Twice the training tells the same story of the jump.",
        "twice as many steps of reading words",
        JUMPS,
        "def on_words(language, seed, steps=200):",
        "def on_words(language, seed, steps=400):",
        holds=True,
    ),
    Ablation(
        "It has to look: a decoder that may not does not know the digits.",
        "the same training without looking",
        "assert min(share[0] for share in rows.values()) > 0.95",
        "    model = Translator(AttentionDecoder(10, 32), StartOfOneReader(27, 32))\n",
        "    class Blind(EvenWeights):\n"
        "        def forward(self, query, key, value, mask=None):\n"
        "            return super().forward(query, key, 0 * value)\n"
        "    decoder = AttentionDecoder(10, 32)\n"
        "    decoder.attend = Blind()\n"
        "    model = Translator(decoder, StartOfOneReader(27, 32))\n",
    ),
    Ablation(
        "Three digits fit into one mean.",
        "even weights on the words",
        "assert min(share[0] for share in rows.values()) > 0.95",
        "model = Translator(AttentionDecoder(10, 32), StartOfOneReader(27, 32))",
        "model = Translator(may_not_choose(), StartOfOneReader(27, 32))",
        holds=True,
    ),
    Ablation("Nor does the jump hang on the start.", "another seed", JUMPS, 'on_words("de", seed=1)', 'on_words("de", seed=0)', holds=True),
    Ablation(
        "The first digit is looked up because nothing else tells it.",
        "both directions at the start",
        "assert first_looked > 0.9",
        "StartOfOneReader(27, 32))",
        "Encoder(27, 32))",
    ),
]

DEEPER = [
    Ablation(
        "The gradient of an RNN changes at each step by sqrt(n) std(U) times the root mean square of the slopes.",
        "the slopes left out",
        "assert abs(predicted - measured) < 0.06",
        "slope = (1 - states**2).pow(2).mean().sqrt()",
        "slope = 1.0",
    ),
    Ablation(
        "The squares of the slopes add up, so that a few steep ones decide.",
        "the plain mean of the slopes",
        "assert abs(predicted - measured) < 0.06",
        "slope = (1 - states**2).pow(2).mean().sqrt()",
        "slope = (1 - states**2).mean()",
    ),
    Ablation(
        "With a large U the gradient explodes.",
        "U as PyTorch starts it",
        'assert rows["U × 1"][0] < 0.6 and rows["U × 4"][0] > 1.1',
        "layer.weight_hh_l0 *= times",
        "layer.weight_hh_l0 *= 1",
    ),
    Ablation(
        "A decoder that looks carries less of what is still to come.",
        "a decoder that gets the one vector at every step",
        'assert (ahead["one vector"] - ahead["looks"])[1:6].mean() > 0.05',
        '("looks", "attention")',
        '("looks", "context")',
    ),
    Ablation(
        "Additive scores find the key.",
        "all scores 0",
        'assert all(share[f"{name}: {ADD}"] > 0.9 for name in cases)',
        "return self.v(torch.tanh(q + k))[..., 0]",
        "return 0 * self.v(torch.tanh(q + k))[..., 0]",
    ),
    Ablation(
        "A bias inside the tanh lets an additive score see likeness.",
        "no bias",
        'assert all(share[f"{name}: {ADD}"] > 0.9 for name in cases)',
        'bias="bias" in kind',
        "bias=False",
    ),
    Ablation(
        "Without a bias an additive score cannot see likeness.",
        "a bias for both",
        "assert share[plain] < 0.12",
        'bias="bias" in kind',
        "bias=True",
    ),
    Ablation(
        "Without a bias more steps do not help.",
        "twice as many steps of finding keys",
        "assert share[plain] < 0.12",
        "steps=400, lr=3e-3",
        "steps=800, lr=3e-3",
        holds=True,
    ),
    Ablation(
        "A bare product misses keys because it lacks the length of the key.",
        "all keys of one length",
        'assert 0.65 < share["width 8: product"] < 0.85',
        "if equal:",
        "if True:",
    ),
    Ablation(
        "One number times the squared length of the key repairs the product.",
        "another number of the key, its first entry squared",
        'assert share[f"width 8: {LENGTH}"] > 0.9',
        "length = key.pow(2).sum(-1) ",
        "length = key[..., 0].pow(2) ",
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
