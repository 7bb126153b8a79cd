"""Exercise 12a.3: ALBERT's stack, one block at every depth. The oracle composes the block with itself by recursion."""

from collections.abc import Callable

from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, randn
from .callables import plain_block, turning_block

Block = Callable[[Tensor], Tensor]


def albert(x: Tensor, block: Block, depth: int) -> Tensor:
    for _ in range(depth):
        x = block(x)
    return x


def oracle(x: Tensor, block: Block, depth: int) -> Tensor:
    return oracle(block(x.double()), block, depth - 1) if depth else x.float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(block: Block, depth: int, *shape: int) -> Case:
        args = arguments(albert, randn(g, *shape), block, depth)
        return Case(f"{block.__name__}, {depth} deep", args, gradients=("x",), shape="(batch, n, d)")

    return [case(turning_block, 3, 2, 4, 6), case(plain_block, 2, 3, 5, 4), case(turning_block, 5, 1, 3, 2)]


def fixed() -> list[Case]:
    x = randn(generator(4), 2, 3, 4)
    return [
        Case("one deep", arguments(albert, x, plain_block, 1), "edges", ("x",), shape="(batch, n, d)"),
        Case("no depth at all", arguments(albert, x, turning_block, 0), "edges", ("x",), shape="(batch, n, d)"),
    ]


EXERCISE = FunctionExercise(right=albert, oracle=oracle, draw=draw, fixed=fixed)
