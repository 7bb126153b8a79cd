"""ALBERT's two savings: narrow embeddings that a matrix widens, one block at every depth. Source: Lan et al. 2020, section 3.1."""

from dataclasses import replace

from torch import Tensor, nn

from ..bert import Bert, BertConfig, BertEmbeddings, initialise


class NarrowEmbeddings(BertEmbeddings):
    """BERT's embeddings of width ``narrow``, then a linear layer: ids and segments ``(batch, n)`` -> ``(batch, n, d_model)``."""

    def __init__(self, config: BertConfig, narrow: int):
        if not 0 < narrow <= config.d_model:
            raise ValueError(f"narrow={narrow} must lie in 1 to d_model={config.d_model}")
        super().__init__(replace(config, d_model=narrow, num_heads=1))
        self.widen = nn.Linear(narrow, config.d_model)

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        return self.widen(super().forward(ids, segments))


class Albert(Bert):
    """A ``Bert`` whose blocks are one and the same, on narrow embeddings; both savings can be switched off."""

    def __init__(self, config: BertConfig, narrow: int | None = 128, shared: bool = True):
        super().__init__(config)
        if narrow is not None:
            self.embeddings = NarrowEmbeddings(config, narrow)
        if shared:
            blocks = self.encoder.blocks
            self.encoder.blocks = nn.ModuleList([blocks[0]] * len(blocks))  # the same module: one set of weights, one sum of gradients
        initialise(self, config.init_std)
