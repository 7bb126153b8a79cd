"""Exercise 04.1: seven shapes, predicted. The oracle multiplies matrices of ones: a wrong size would not multiply."""

import torch

from ..common import Case, Prediction


def oracle(n: int = 5, m: int = 7, d_model: int = 12, h: int = 3, d_k: int = 4, d_v: int = 6) -> dict[str, list[int]]:
    x, memory = torch.ones(n, d_model), torch.ones(m, d_model)
    w_q, w_k, w_v = torch.ones(d_model, d_k), torch.ones(d_model, d_k), torch.ones(d_model, d_v)
    weights = torch.softmax((x @ w_q) @ (memory @ w_k).T, -1)
    head = weights @ (memory @ w_v)
    side = torch.cat([head] * h, dim=-1)
    w_o = torch.ones(side.shape[-1], d_model)
    found = {"W_Q of one head": w_q, "W_V of one head": w_v, "weights of one head": weights, "output of one head": head}
    found |= {"all heads side by side": side, "W_O": w_o, "output": side @ w_o}
    return {name: list(tensor.shape) for name, tensor in found.items()}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your seven shapes", {})])
