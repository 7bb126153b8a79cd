"""How many parameters the published models have, by formula: what a family's change does to its size.

Configurations as released; each total is that of the body (without a head for pre-training, unless it is named).
"""


def linear(wide: int, out: int, bias: bool = True) -> int:
    """Parameters of a linear layer."""
    return wide * out + bias * out


def block(d: int, d_ff: int, bias: bool = True) -> int:
    """BERT's block: four attention matrices, two of the feed-forward network, two LayerNorms."""
    return 4 * linear(d, d, bias) + linear(d, d_ff) + linear(d_ff, d) + 4 * d


def bert(vocab: int, d: int, layers: int, d_ff: int, positions: int = 512, segments: int = 2, pooler: bool = True) -> int:
    """BERT, RoBERTa, XLM-R, DistilBERT (no segments, no pooler), BigBird (more positions)."""
    return (vocab + positions + segments) * d + 2 * d + layers * block(d, d_ff) + pooler * linear(d, d)


def albert(
    d: int, d_ff: int, vocab: int = 30_000, narrow: int = 128, factorised: bool = True, shared: bool = True, layers: int = 12
) -> int:
    """ALBERT: embeddings of width ``narrow`` and a matrix that widens them; one block used ``layers`` times."""
    width = narrow if factorised else d
    embeddings = (vocab + 512 + 2) * width + 2 * width + (linear(narrow, d) if factorised else 0)
    return embeddings + (1 if shared else layers) * block(d, d_ff) + linear(d, d)


def electra(d: int, layers: int, d_ff: int, narrow: int, vocab: int = 30_522) -> int:
    """ELECTRA's discriminator without its output layer."""
    return (vocab + 512 + 2) * narrow + 2 * narrow + (linear(narrow, d) if narrow != d else 0) + layers * block(d, d_ff)


def deberta(d: int = 768, layers: int = 12, d_ff: int = 3_072, vocab: int = 50_265, distances: int = 512) -> int:
    """DeBERTa: no table of absolute positions; one of ``2 · distances`` relative ones, projected to a query and a key in each layer."""
    attention = linear(d, 3 * d, False) + 2 * d + linear(d, d, False) + linear(d, d) + linear(d, d)  # q, k, v; two for positions; output
    return vocab * d + 2 * d + 2 * distances * d + layers * (attention + linear(d, d_ff) + linear(d_ff, d) + 4 * d)


def xlnet(d: int, layers: int, d_ff: int, vocab: int = 32_000) -> int:
    """XLNet: five attention matrices (one for relative positions), no biases but three of them and two segment vectors."""
    return vocab * d + d + layers * (5 * d * d + 5 * d + linear(d, d_ff) + linear(d_ff, d) + 4 * d)


def ctrl(d: int = 1_280, layers: int = 48, d_ff: int = 8_192, vocab: int = 246_534) -> int:
    """CTRL with the bias of its output layer; its positions are computed."""
    return vocab * d + layers * block(d, d_ff) + 2 * d + vocab


def gpt_neo(d: int, layers: int, vocab: int = 50_257, positions: int = 2_048) -> int:
    """GPT-Neo: GPT-2 without biases on queries, keys and values."""
    return (vocab + positions) * d + layers * (block(d, 4 * d) - 3 * d) + 2 * d


def gpt_j(d: int = 4_096, layers: int = 28, vocab: int = 50_400) -> int:
    """GPT-J: rotary positions, one LayerNorm in each block, no biases in attention, an output layer of its own."""
    return vocab * d + layers * (4 * d * d + linear(d, 4 * d) + linear(4 * d, d) + 2 * d) + 2 * d + linear(d, vocab)


def t5(d: int, d_ff: int, heads: int, head_dim: int, layers: int, vocab: int = 32_128) -> int:
    """T5: encoder and decoder of ``layers`` blocks without biases, RMSNorm, one table of 32 distances a stack."""
    inner = heads * head_dim
    encoder = 4 * d * inner + 2 * d * d_ff + 2 * d
    return vocab * d + layers * (2 * encoder + 4 * d * inner + d) + 2 * (d + 32 * heads)


def encoder_decoder(
    d: int, d_ff: int, layers: int, vocab: int, positions: int = 0, embedding_norm: bool = False, final_norm: bool = False
) -> int:
    """BART (learned positions, a norm behind the embeddings) and M2M-100 (computed positions, a final norm), one shared embedding."""
    decoder = block(d, d_ff) + 4 * linear(d, d) + 2 * d
    return vocab * d + layers * (block(d, d_ff) + decoder) + 2 * (positions * d + 2 * d * embedding_norm + 2 * d * final_norm)


PUBLISHED = {
    "BERT base": (bert(30_522, 768, 12, 3_072), 109_482_240),
    "DistilBERT": (bert(30_522, 768, 6, 3_072, segments=0, pooler=False), 66_362_880),
    "RoBERTa base": (bert(50_265, 768, 12, 3_072, 514, 1), 124_645_632),
    "RoBERTa large": (bert(50_265, 1_024, 24, 4_096, 514, 1), 355_359_744),
    "XLM-R base": (bert(250_002, 768, 12, 3_072, 514, 1), 278_043_648),
    "XLM-R large": (bert(250_002, 1_024, 24, 4_096, 514, 1), 559_890_432),
    "ALBERT base": (albert(768, 3_072), 11_683_584),
    "ALBERT large": (albert(1_024, 4_096), 17_683_968),
    "ALBERT xlarge": (albert(2_048, 8_192), 58_724_864),
    "ALBERT xxlarge": (albert(4_096, 16_384), 222_595_584),
    "ELECTRA small": (electra(256, 12, 1_024, 128), 13_483_008),
    "ELECTRA base": (electra(768, 12, 3_072, 768), 108_891_648),
    "DeBERTa base": (deberta(), 138_601_728),
    "XLNet base": (xlnet(768, 12, 3_072), 116_718_336),
    "XLNet large": (xlnet(1_024, 24, 4_096), 360_268_800),
    "BigBird base": (bert(50_358, 768, 12, 3_072, 4_096), 127_468_800),
    "CTRL": (ctrl(), 1_637_964_550),
    "GPT-Neo 1.3B": (gpt_neo(2_048, 24), 1_315_575_808),
    "GPT-Neo 2.7B": (gpt_neo(2_560, 32), 2_651_307_520),
    "GPT-J 6B": (gpt_j(), 6_050_882_784),
    "T5 small": (t5(512, 2_048, 8, 64, 6), 60_506_624),
    "T5 base": (t5(768, 3_072, 12, 64, 12), 222_903_552),
    "T5 large": (t5(1_024, 4_096, 16, 64, 24), 737_668_096),
    "T5 3B": (t5(1_024, 16_384, 32, 128, 24), 2_851_598_336),
    "T5 11B": (t5(1_024, 65_536, 128, 128, 24), 11_307_321_344),
    "BART base": (encoder_decoder(768, 3_072, 6, 50_265, 1_026, True), 139_420_416),
    "BART large": (encoder_decoder(1_024, 4_096, 12, 50_265, 1_026, True), 406_291_456),
    "M2M-100 418M": (encoder_decoder(1_024, 4_096, 12, 128_112, final_norm=True), 483_905_536),
}  # by formula, as released
