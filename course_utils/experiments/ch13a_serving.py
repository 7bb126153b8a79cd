"""Chapter 13a: many requests on one machine, simulated step by step with measured step times.

A request is a prompt and an answer, in tokens. Prompts are read for nothing here; only the writing is counted.
"""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

Requests = list[tuple[int, int]]
LONGEST = 512


def requests(count: int, seed: int, spread: float = 1.0) -> Requests:
    """Prompts of about 20 tokens and answers of about 30, a few of them very long; with ``spread`` 0 all answers are equally long."""
    g = torch.Generator().manual_seed(seed)
    prompts = (3 + 0.6 * torch.randn(count, generator=g)).exp().clamp(1, 64)
    answers = (3.4 + spread * torch.randn(count, generator=g)).exp().clamp(1, LONGEST)
    return list(zip(prompts.long().tolist(), answers.long().tolist(), strict=True))


def step_cost(measured: Mapping[int, float]) -> Callable[[int], float]:
    """Time of a step by the size of the batch, on straight lines between the measured sizes."""
    sizes = sorted(measured)

    def cost(size: int) -> float:
        at = min(max(bisect_left(sizes, size), 1), len(sizes) - 1)
        low, high = sizes[at - 1], sizes[at]
        return measured[low] + (measured[high] - measured[low]) * (size - low) / (high - low)

    return cost


class Run(NamedTuple):
    """Tokens a second, share of the computed rows that wrote a token somebody wanted, and for each slot its (start, end) in steps."""

    speed: float
    useful: float
    slots: list[list[tuple[int, int]]]


def static(queue: Requests, batch: int, cost: Callable[[int], float]) -> Run:
    """Batches of ``batch`` requests; each is written until its longest answer is done. ``cost`` in seconds."""
    slots: list[list[tuple[int, int]]] = [[] for _ in range(batch)]
    now = seconds = rows = 0.0
    for first in range(0, len(queue), batch):
        answers = [answer for _, answer in queue[first : first + batch]]
        for slot, answer in zip(slots, answers, strict=False):
            slot.append((int(now), int(now) + answer))
        seconds += max(answers) * cost(len(answers))
        rows += max(answers) * len(answers)
        now += max(answers)
    wanted = sum(answer for _, answer in queue)
    return Run(wanted / seconds, wanted / rows, slots)


def continuous(queue: Requests, batch: int, cost: Callable[[int], float]) -> Run:
    """As soon as an answer is done, the next request takes its place. ``cost`` in seconds."""
    slots: list[list[tuple[int, int]]] = [[] for _ in range(batch)]
    waiting, left = deque(queue), [0] * batch
    now, seconds = 0, 0.0
    while True:
        for i in range(batch):
            if not left[i] and waiting:
                left[i] = waiting.popleft()[1]
                slots[i].append((now, now + left[i]))
        active = sum(n > 0 for n in left)
        if not active:
            break
        seconds, now = seconds + cost(active), now + 1
        left = [max(0, n - 1) for n in left]
    wanted = sum(answer for _, answer in queue)
    return Run(wanted / seconds, wanted / (now * batch), slots)


class Memory(NamedTuple):
    """Means over the steps: requests together, share of the room that holds a token; steps in all; how often one was sent back."""

    together: float
    filled: float
    steps: int
    sent_back: int


def in_memory(queue: Requests, room: int = 4_096, page: int | None = 16) -> Memory:
    """A cache with ``room`` places for tokens. ``page`` None: each request reserves prompt + ``LONGEST``; else pages, as needed.

    If no page is left, the request that came last gives its pages back and begins anew later. ValueError when one alone cannot fit.
    """
    size = page or 1
    need = [math.ceil((prompt + answer) / size) * size for prompt, answer in queue]
    if max(need if page else [prompt + LONGEST for prompt, _ in queue]) > room:
        raise ValueError(f"a request does not fit into {room} places")
    waiting = deque(queue)
    active: list[list[int]] = []  # [prompt, answer, written, places held]
    together = filled = steps = back = 0
    free = room
    while waiting or active:
        while waiting:
            prompt, answer = waiting[0]
            hold = math.ceil((prompt + 1) / size) * size if page else prompt + LONGEST
            if hold > free:
                break
            waiting.popleft()
            active.append([prompt, answer, 0, hold])
            free -= hold
        for request in list(active):
            if not any(other is request for other in active):
                continue  # sent back meanwhile
            while request[0] + request[2] + 1 > request[3]:  # one more page
                if free >= size:
                    free, request[3] = free - size, request[3] + size
                    continue
                last = active.pop()
                free, back = free + last[3], back + 1
                waiting.appendleft((last[0], last[1]))
                if last is request:
                    break
            else:
                request[2] += 1
        steps, together = steps + 1, together + len(active)
        filled += sum(prompt + written for prompt, _, written, _ in active)
        for request in active:
            if request[2] == request[1]:
                free += request[3]
        active = [request for request in active if request[2] < request[1]]
    return Memory(together / steps, filled / steps / room, steps, back)
