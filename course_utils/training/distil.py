"""Teaching a small model with a large one's probabilities.

Source: Hinton et al. 2015, section 2; used for BERT by Sanh et al. 2019 (DistilBERT), section 2.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 2.0) -> Tensor:
    """``T² · KL(teacher ‖ student)`` of both logits ``(n, vocab_size)`` divided by T, mean over n; no gradient for the teacher.

    A higher temperature makes the teacher's small probabilities count; the factor T² keeps the size of the gradient.
    ValueError for shapes that differ or a temperature that is not positive.
    """
    if student.shape != teacher.shape or temperature <= 0:
        raise ValueError(f"student {tuple(student.shape)}, teacher {tuple(teacher.shape)}, temperature={temperature}: the shapes must be "
                         "the same and the temperature positive")
    taught = (teacher.detach() / temperature).log_softmax(-1)
    return temperature**2 * F.kl_div((student / temperature).log_softmax(-1), taught, reduction="batchmean", log_target=True)
