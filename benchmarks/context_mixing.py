"""A context mixer: the strongest kind of counting model there is, in a hundred readable lines.

It predicts a text bit by bit. For each of several contexts (the last 0 to 8 and 12 characters, the present word, and the place where
the same six characters stood before) it keeps a running estimate of the next bit. A small logistic regression, trained on the fly,
mixes the estimates in the logit; that is what makes it strong. Compressors of the PAQ family work like this (Mahoney, "Adaptive
weighing of context models for lossless data compression", 2005). Used by gpt_training.py; by itself:

    python benchmarks/context_mixing.py
"""

import math

ORDERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12)


def squash(x):
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


class ContextMixer:
    """Reads bytes; ``bits(data)`` says what they cost. ``learning=False`` freezes estimates and weights."""

    def __init__(self):
        self.tables = [{} for _ in range(len(ORDERS) + 1)]  # one for each order, and the word
        self.weights = {}  # for each part of a byte that is known: one weight for each input
        self.history = bytearray()
        self.places = {}  # last place behind these six bytes
        self.match = 0  # where the text that is being repeated goes on, or 0
        self.length = 0  # how long it has agreed

    def rewind(self, length):
        """Forget what a frozen mixer has read behind the first ``length`` bytes."""
        del self.history[length:]
        self.match = self.length = 0

    def contexts(self):
        """What each table is asked with before the next byte."""
        h = self.history
        k = len(h)
        while k and (97 <= (h[k - 1] | 32) <= 122):
            k -= 1
        word = bytes(h[k:])
        return [bytes(h[len(h) - n :]) if n else b"" for n in ORDERS] + [word]

    def bits(self, data, learning=True):
        """Bits for every byte of ``data``, given all that was read before."""
        return [self._byte(byte, learning) for byte in data]

    def _byte(self, byte, learning):
        asked, cost, partial = self.contexts(), 0.0, 1
        tables = [table.setdefault(key, {}) if learning else table.get(key, {}) for table, key in zip(self.tables, asked, strict=True)]
        expected = self.history[self.match] if self.match else -1
        for place in range(7, -1, -1):
            bit = byte >> place & 1
            inputs, cells = [0.3], []
            for table in tables:
                cell = table.get(partial)  # [p of a one, how often seen]
                if cell is None:
                    cell = [0.5, 0]
                    if learning:
                        table[partial] = cell
                cells.append(cell)
                if cell[1]:
                    logit = math.log(cell[0] / (1 - cell[0]))
                    inputs.append(logit)
                    inputs.append((cell[0] - 0.5) * min(cell[1], 10))
                else:
                    inputs += (0.0, 0.0)
            agrees = expected >= 0 and (expected | 256) >> (place + 1) == partial
            strength = min(self.length, 32) / 4 if agrees else 0.0
            inputs.append(strength if agrees and expected >> place & 1 else -strength)
            chosen = (partial, min(self.length, 15) if agrees else -1)
            weights = self.weights.get(chosen)
            if weights is None:
                weights = [0.15] * len(inputs)
                if learning:
                    self.weights[chosen] = weights
            p = squash(sum(w * x for w, x in zip(weights, inputs, strict=True)))
            p = min(max(p, 1e-5), 1 - 1e-5)
            cost -= math.log2(p if bit else 1 - p)
            if learning:
                error = (bit - p) * 0.02
                for k, x in enumerate(inputs):
                    weights[k] += error * x
                for cell in cells:
                    cell[1] += 1
                    rate = max(1 / (cell[1] + 0.6), 0.02)
                    cell[0] = min(max(cell[0] + (bit - cell[0]) * rate, 1e-3), 1 - 1e-3)
            partial = partial << 1 | bit
        self._remember(byte, learning)
        return cost

    def _remember(self, byte, learning):
        """The byte becomes history; does a repetition go on?"""
        if self.match and self.history[self.match] == byte:
            self.match += 1
            self.length += 1
        else:
            self.match = self.length = 0
        self.history.append(byte)
        key = bytes(self.history[-6:])
        if not self.match:
            self.match = self.places.get(key, 0)
            self.length = 6 if self.match else 0
        if learning:
            self.places[key] = len(self.history)


if __name__ == "__main__":
    from course_utils.training.mini_gpt import read_corpus

    corpus = read_corpus()
    train, held = ("".join(page + "\0" for page in pages).encode() for pages in corpus)
    mixer = ContextMixer()
    mixer.bits(train)
    print(f"frozen: {sum(mixer.bits(held, learning=False)) / len(held.decode()):.3f} bits per character")
    mixer.rewind(len(train))
    print(f"learning as it goes: {sum(mixer.bits(held)) / len(held.decode()):.3f}")
