"""Exercise 12a.3: ALBERT's stack, one block at every depth. The oracle composes the block with itself by recursion."""

from collections.abc import Callable

from torch import Generator, Tensor

from ..common import CALLABLES, Case, FunctionExercise, Registered, arguments, generator, randn
from . import callables  # noqa: F401


def albert(x: Tensor, block: Callable[[Tensor], Tensor], depth: int) -> Tensor:
    for _ in range(depth):
        x = block(x)
    return x


def oracle(x: Tensor, block: Registered, depth: int) -> Tensor:
    return oracle(CALLABLES[block.name](x.double()), block, depth - 1) if depth else x.float()


def _case(g: Generator, depth: int, part: str, *shape: int) -> Case:
    args = arguments(albert, randn(g, *shape), Registered("turning_block"), depth)
    return Case(f"depth {depth}", args, part, gradients=("x",), shape="(batch, n, d)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, depth, "values", *shape) for depth, shape in ((3, (2, 4, 6)), (2, (3, 5, 4)), (5, (1, 3, 2)))]


def fixed() -> list[Case]:
    return [_case(generator(4), depth, "edges", 2, 3, 4) for depth in (1, 0)]


EXERCISE = FunctionExercise(right=albert, oracle=oracle, draw=draw, fixed=fixed)
