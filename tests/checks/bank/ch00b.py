"""Chapter 00b: answers written from the blank notebook."""

from . import Answer, edit

ERROR = """
def squared_error(guess, target):
    difference = guess[:, 0] - target
    return difference.pow(2).mean()
"""

SOFTMAX = """
def softmax(scores, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature has to be positive, not {temperature}")
    scores = scores / temperature
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)
"""

ENTROPY = """
def cross_entropy(logits, target):
    lse = torch.logsumexp(logits, dim=1)
    right = logits[range(len(target)), target]
    return (lse - right).mean()
"""

BY_PROBABILITY = """
def cross_entropy(logits, target):
    p = torch.softmax(logits, dim=1)
    right = p[torch.arange(len(target)), target]
    return -torch.log(right).mean()
"""

MODULE = """
class SoftmaxRegression(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_classes, num_features))
        self.bias = nn.Parameter(torch.zeros(num_classes))

    def forward(self, x):
        return x @ self.weight.T + self.bias
"""

TRAIN = """
def train(new_model, x, target, x_held, steps, lr):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        held = model(x_held)
    return losses, held
"""

GUESS = """
prediction_of_optimisers = {
    "plain descent: same path if the loss is multiplied by 100": "no",
    "Adam: same path if the loss is multiplied by 100": "yes",
    "momentum: moves although the gradient is 0": "yes",
    "clipping the norm: turns the step in another direction": "no",
    "AdamW: shrinks a weight whose gradient is 0": "yes",
    "Adam: first step longer where the gradient is larger": "no",
}
"""

PLAIN, ADAM = 'plain descent: same path if the loss is multiplied by 100": ', 'Adam: same path if the loss is multiplied by 100": '
ROLLS = 'although the gradient is 0": '
TURNS, DECAYS, FIRST = 'another direction": ', 'whose gradient is 0": ', 'where the gradient is larger": '

BANK = (
    # 00b.1
    Answer("00b.1", "the column taken out", ERROR, right=True),
    Answer("00b.1", "the target made a column", edit(ERROR, "guess[:, 0] - target", "guess - target.unsqueeze(1)"), right=True),
    Answer("00b.1", "both flattened", edit(ERROR, "guess[:, 0] - target", "guess.flatten() - target.flatten()"), right=True),
    Answer("00b.1", "reshaped like the target", """
def squared_error(guess, target):
    guess = guess.reshape(target.shape)
    return torch.mean((target - guess) ** 2)
""", right=True),
    Answer("00b.1", "a row of targets instead of a column: still all pairs",
           edit(ERROR, "guess[:, 0] - target", "guess - target[None, :]")),
    Answer("00b.1", "squeezes a copy and forgets to use it", """
def squared_error(guess, target):
    guess.squeeze()
    difference = guess - target
    return difference.pow(2).mean()
"""),
    Answer("00b.1", "takes the first guess", edit(ERROR, "guess[:, 0]", "guess[0]")),
    Answer("00b.1", "names the only axis", edit(ERROR, ".mean()", ".mean(dim=0)"), right=True),
    Answer("00b.1", "the mean of all pairs along one axis", """
def squared_error(guess, target):
    difference = guess - target
    return difference.pow(2).mean(dim=1)
"""),
    Answer("00b.1", "takes the root", edit(ERROR, "difference.pow(2).mean()", "difference.pow(2).mean().sqrt()")),
    Answer("00b.1", "absolute values", edit(ERROR, "difference.pow(2).mean()", "difference.abs().mean()")),
    Answer("00b.1", "adds up instead of averaging", edit(ERROR, "difference.pow(2).mean()", "difference.pow(2).sum()")),
    Answer("00b.1", "adds up the diagonal of all pairs", """
def squared_error(guess, target):
    difference = guess - target
    return difference.diagonal().pow(2).sum()
"""),
    Answer("00b.1", "squares after averaging", edit(ERROR, "difference.pow(2).mean()", "difference.mean().pow(2)")),
    Answer("00b.1", "hands back a Python number", edit(ERROR, "difference.pow(2).mean()", "difference.pow(2).mean().item()")),
    Answer("00b.1", "sorts both before it compares",
           edit(ERROR, "guess[:, 0] - target", "guess[:, 0].sort().values - target.sort().values")),
    # 00b.2
    Answer("00b.2", "each row's maximum subtracted", SOFTMAX, right=True),
    Answer("00b.2", "with logsumexp", """
def softmax(scores, temperature=1.0):
    if temperature <= 0:
        raise ValueError("not a temperature: " + str(temperature))
    s = scores / temperature
    return torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
""", right=True),
    Answer("00b.2", "the maximum by amax, before the division", """
def softmax(scores, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"got temperature={temperature}")
    e = ((scores - scores.amax(-1, keepdim=True)) / temperature).exp()
    return e.div(e.sum(-1, keepdim=True))
""", right=True),
    Answer("00b.2", "the formula as it stands, which overflows",
           edit(SOFTMAX, "    scores = scores - scores.max(dim=-1, keepdim=True).values\n", "")),
    Answer("00b.2", "the maximum of everything", edit(SOFTMAX, "scores.max(dim=-1, keepdim=True).values", "scores.max()")),
    Answer("00b.2", "shifts by the mean", edit(SOFTMAX, "scores.max(dim=-1, keepdim=True).values", "scores.mean(dim=-1, keepdim=True)")),
    Answer("00b.2", "clamps the scores so that nothing overflows",
           edit(SOFTMAX, "scores = scores - scores.max(dim=-1, keepdim=True).values", "scores = scores.clamp(-80, 80)")),
    Answer("00b.2", "replaces what is no number by 0", edit(
        edit(SOFTMAX, "    scores = scores - scores.max(dim=-1, keepdim=True).values\n", ""),
        "return e / e.sum(dim=-1, keepdim=True)", "return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True))")),
    Answer("00b.2", "axis 1 instead of the last", SOFTMAX.replace("dim=-1", "dim=1")),
    Answer("00b.2", "the first axis", SOFTMAX.replace("dim=-1", "dim=0")),
    Answer("00b.2", "the sum loses its axis", edit(SOFTMAX, "e.sum(dim=-1, keepdim=True)", "e.sum(dim=-1)")),
    Answer("00b.2", "one sum for the whole table", edit(SOFTMAX, "e.sum(dim=-1, keepdim=True)", "e.sum()")),
    Answer("00b.2", "multiplies by the temperature", edit(SOFTMAX, "scores / temperature", "scores * temperature")),
    Answer("00b.2", "forgets the temperature", edit(SOFTMAX, "    scores = scores / temperature\n", "")),
    Answer("00b.2", "divides the result by the temperature", edit(
        edit(SOFTMAX, "    scores = scores / temperature\n", ""), "keepdim=True)\n", "keepdim=True) / temperature\n")),
    Answer("00b.2", "does not refuse a temperature of 0", edit(SOFTMAX, "temperature <= 0", "temperature < 0")),
    Answer("00b.2", "refuses nothing", edit(SOFTMAX, """    if temperature <= 0:
        raise ValueError(f"temperature has to be positive, not {temperature}")
""", "")),
    Answer("00b.2", "the message does not say the number", edit(SOFTMAX, 'f"temperature has to be positive, not {temperature}"',
                                                               '"temperature has to be positive"')),
    Answer("00b.2", "an assert instead of an error", edit(SOFTMAX, """    if temperature <= 0:
        raise ValueError(f"temperature has to be positive, not {temperature}")
""", "    assert temperature > 0, temperature\n")),
    Answer("00b.2", "changes the scores in place", edit(SOFTMAX, "    scores = scores / temperature\n", "    scores /= temperature\n")),
    Answer("00b.2", "a sigmoid of each score", """
def softmax(scores, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}")
    return torch.sigmoid(scores / temperature)
"""),
    Answer("00b.2", "rounds", edit(
        SOFTMAX, "return e / e.sum(dim=-1, keepdim=True)", "return torch.round(e / e.sum(dim=-1, keepdim=True), decimals=2)")),
    Answer("00b.2", "calls PyTorch's own", edit(SOFTMAX, "return e / e.sum(dim=-1, keepdim=True)", "return scores.softmax(dim=-1)")),
    # 00b.3
    Answer("00b.3", "log-sum-exp minus the right logit", ENTROPY, right=True),
    Answer("00b.3", "with gather", """
def cross_entropy(logits, target):
    right = torch.gather(logits, 1, target.unsqueeze(1)).squeeze(1)
    return torch.mean(torch.logsumexp(logits, 1) - right)
""", right=True),
    Answer("00b.3", "a log-softmax written out, then a one-hot mask", """
def cross_entropy(logits, target):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    hot = nn.functional.one_hot(target, logits.shape[1])
    return -(log_p * hot).sum() / len(target)
""", right=True),
    Answer("00b.3", "a loop over the words", """
def cross_entropy(logits, target):
    total = 0
    for row, t in zip(logits, target):
        total = total + torch.logsumexp(row, dim=0) - row[t]
    return total / len(target)
""", right=True),
    Answer("00b.3", "the logarithm of a softmax", BY_PROBABILITY),
    Answer("00b.3", "the same with a small number inside", edit(BY_PROBABILITY, "torch.log(right)", "torch.log(right + 1e-8)")),
    Answer("00b.3", "the same, clamped", edit(BY_PROBABILITY, "torch.log(right)", "torch.log(right.clamp(min=1e-7))")),
    Answer("00b.3", "exponentials without a shift", edit(ENTROPY, "torch.logsumexp(logits, dim=1)", "logits.exp().sum(dim=1).log()")),
    Answer("00b.3", "the wrong axis", edit(ENTROPY, "dim=1", "dim=0")),
    Answer("00b.3", "indexes all rows with all targets", edit(ENTROPY, "logits[range(len(target)), target]", "logits[:, target]")),
    Answer("00b.3", "indexes rows by the target", edit(ENTROPY, "logits[range(len(target)), target]", "logits[target].max(dim=1).values")),
    Answer("00b.3", "the sign turned round", edit(ENTROPY, "lse - right", "right - lse")),
    Answer("00b.3", "a sum", edit(ENTROPY, ".mean()", ".sum()")),
    Answer("00b.3", "not averaged", edit(ENTROPY, "(lse - right).mean()", "lse - right")),
    Answer("00b.3", "in bits", edit(ENTROPY, "(lse - right).mean()", "(lse - right).mean() / torch.log(torch.tensor(2.0))")),
    Answer("00b.3", "forgets the log-sum-exp", edit(ENTROPY, "(lse - right).mean()", "-right.mean()")),
    Answer("00b.3", "the maximum instead of the log-sum-exp", edit(ENTROPY, "torch.logsumexp(logits, dim=1)", "logits.max(dim=1).values")),
    Answer("00b.3", "averages the probabilities first", edit(BY_PROBABILITY, "-torch.log(right).mean()", "-torch.log(right.mean())")),
    Answer("00b.3", "one minus the probability", edit(BY_PROBABILITY, "-torch.log(right).mean()", "(1 - right).mean()")),
    Answer("00b.3", "returns a Python number", edit(ENTROPY, "(lse - right).mean()", "(lse - right).mean().item()")),
    Answer("00b.3", "mean over all entries of a one-hot mask", """
def cross_entropy(logits, target):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    hot = nn.functional.one_hot(target, logits.shape[1])
    return -(log_p * hot).mean()
"""),
    Answer("00b.3", "the entropy of the prediction", """
def cross_entropy(logits, target):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    return -(log_p.exp() * log_p).sum(dim=1).mean()
"""),
    Answer("00b.3", "the loss of PyTorch", """
def cross_entropy(logits, target):
    return nn.functional.cross_entropy(logits, target)
"""),
    # 00b.4
    Answer("00b.4", "zeros as parameters", MODULE, right=True),
    Answer("00b.4", "matmul with the transpose, bias first", """
class SoftmaxRegression(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(num_classes))
        self.weight = torch.nn.Parameter(torch.zeros(num_classes, num_features))

    def forward(self, x):
        return self.bias + torch.matmul(x, self.weight.transpose(0, 1))
""", right=True),
    Answer("00b.4", "broadcasting and a sum", edit(MODULE, "x @ self.weight.T + self.bias",
                                                   "(x[:, None, :] * self.weight).sum(dim=-1) + self.bias"), right=True),
    Answer("00b.4", "not wrapped as a parameter", edit(MODULE, "nn.Parameter(torch.zeros(num_classes, num_features))",
                                                       "torch.zeros(num_classes, num_features)")),
    Answer("00b.4", "forgets super().__init__", edit(MODULE, "        super().__init__()\n", "")),
    Answer("00b.4", "the weight the other way round", edit(
        edit(MODULE, "torch.zeros(num_classes, num_features)", "torch.zeros(num_features, num_classes)"), "self.weight.T", "self.weight")),
    Answer("00b.4", "starts at random", edit(MODULE, "torch.zeros(num_classes, num_features)", "torch.randn(num_classes, num_features)")),
    Answer("00b.4", "starts with small random numbers", edit(MODULE, "torch.zeros(num_classes, num_features)",
                                                             "0.01 * torch.randn(num_classes, num_features)")),
    Answer("00b.4", "the bias starts at one", edit(MODULE, "torch.zeros(num_classes))", "torch.ones(num_classes))")),
    Answer("00b.4", "a softmax at the end", edit(MODULE, "return x @ self.weight.T + self.bias",
                                                 "return torch.softmax(x @ self.weight.T + self.bias, dim=1)")),
    Answer("00b.4", "a log-softmax at the end", edit(MODULE, "return x @ self.weight.T + self.bias",
                                                     "return torch.log_softmax(x @ self.weight.T + self.bias, dim=1)")),
    Answer("00b.4", "the bias left out of forward", edit(MODULE, " + self.bias", "")),
    Answer("00b.4", "no bias at all", edit(edit(MODULE, "        self.bias = nn.Parameter(torch.zeros(num_classes))\n", ""),
                                           " + self.bias", "")),
    Answer("00b.4", "other names", MODULE.replace("self.weight", "self.W").replace("self.bias", "self.b")),
    Answer("00b.4", "a bias of one number", edit(MODULE, "torch.zeros(num_classes))", "torch.zeros(1))")),
    Answer("00b.4", "weights made anew in forward", edit(
        MODULE, "        return x", "        self.weight = nn.Parameter(torch.zeros_like(self.weight))\n        return x")),
    Answer("00b.4", "weights detached", edit(MODULE, "self.weight.T", "self.weight.detach().T")),
    Answer("00b.4", "a ReLU at the end", edit(MODULE, "return x @ self.weight.T + self.bias",
                                              "return torch.relu(x @ self.weight.T + self.bias)")),
    Answer("00b.4", "a sigmoid at the end", edit(MODULE, "return x @ self.weight.T + self.bias",
                                                 "return torch.sigmoid(x @ self.weight.T + self.bias)")),
    Answer("00b.4", "the best class", edit(MODULE, "return x @ self.weight.T + self.bias",
                                           "return (x @ self.weight.T + self.bias).argmax(dim=1)")),
    Answer("00b.4", "nn.Linear", """
class SoftmaxRegression(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.linear = nn.Linear(num_features, num_classes)

    def forward(self, x):
        return self.linear(x)
"""),
    # 00b.5
    Answer("00b.5", "the four lines in a loop", TRAIN, right=True),
    Answer("00b.5", "cleared at the end of each step", edit(edit(TRAIN, "        optimizer.zero_grad()\n", ""),
                                                            "        optimizer.step()\n",
                                                             "        optimizer.step()\n        optimizer.zero_grad()\n"),
           right=True),
    Answer("00b.5", "the update by hand", """
def train(new_model, x, target, x_held, steps, lr):
    model = new_model()
    losses = []
    for _ in range(steps):
        model.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), target)
        loss.backward()
        for p in model.parameters():
            p.data -= lr * p.grad
        losses.append(loss.item())
    model.eval()
    return losses, model(x_held).detach()
""", right=True),
    Answer("00b.5", "the loss through log-sum-exp, model.train() said again", edit(
        edit(TRAIN, "nn.functional.cross_entropy(logits, target)",
             "(torch.logsumexp(logits, 1) - logits[torch.arange(len(x)), target]).mean()"),
        "        optimizer.zero_grad()\n", "        model.train()\n        optimizer.zero_grad()\n"), right=True),
    Answer("00b.5", "never clears", edit(TRAIN, "        optimizer.zero_grad()\n", "")),
    Answer("00b.5", "clears once, before the loop", edit(edit(TRAIN, "        optimizer.zero_grad()\n", ""),
                                                        "    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n")),
    Answer("00b.5", "clears between backward and step", edit(edit(TRAIN, "        optimizer.zero_grad()\n", ""),
                                                             "        optimizer.step()\n",
                                                             "        optimizer.zero_grad()\n        optimizer.step()\n")),
    Answer("00b.5", "steps before going backward", edit(edit(TRAIN, "        optimizer.step()\n", ""), "        loss.backward()\n",
                                                        "        optimizer.step()\n        loss.backward()\n")),
    Answer("00b.5", "never goes backward", edit(TRAIN, "        loss.backward()\n", "")),
    Answer("00b.5", "never steps", edit(TRAIN, "        optimizer.step()\n", "")),
    Answer("00b.5", "a softmax before the loss", edit(TRAIN, "logits = model(x)\n", "logits = model(x).softmax(dim=1)\n")),
    Answer("00b.5", "no evaluation mode", edit(TRAIN, "    model.eval()\n", "")),
    Answer("00b.5", "evaluation mode already in the loop", edit(TRAIN, "        optimizer.zero_grad()\n",
                                                                "        model.eval()\n        optimizer.zero_grad()\n")),
    Answer("00b.5", "returns inside the loop", edit(TRAIN, "    return losses, held\n", "").replace(
        "    model.eval()\n    with torch.no_grad():\n        held = model(x_held)\n",
        "        model.eval()\n        with torch.no_grad():\n            return losses, model(x_held)\n")),
    Answer("00b.5", "Adam", edit(TRAIN, "torch.optim.SGD", "torch.optim.Adam")),
    Answer("00b.5", "with momentum", edit(TRAIN, "lr=lr", "lr=lr, momentum=0.9")),
    Answer("00b.5", "a learning rate of its own", edit(TRAIN, "lr=lr", "lr=0.1")),
    Answer("00b.5", "losses as tensors, which count as numbers", edit(TRAIN, "loss.item()", "loss.detach()"), right=True),
    Answer("00b.5", "the last loss alone", edit(TRAIN, "return losses, held", "return losses[-1], held")),
    Answer("00b.5", "results in the other order", edit(TRAIN, "return losses, held", "return held, losses")),
    Answer("00b.5", "the loss after the step", edit(TRAIN, "losses.append(loss.item())",
                                                    "losses.append(nn.functional.cross_entropy(model(x), target).item())")),
    Answer("00b.5", "a new model in every step", edit(
        TRAIN, "        optimizer.zero_grad()\n",
        "        model = new_model()\n        optimizer = torch.optim.SGD(model.parameters(), lr=lr)\n        optimizer.zero_grad()\n")),
    Answer("00b.5", "one step less", edit(TRAIN, "range(steps)", "range(1, steps)")),
    Answer("00b.5", "adds the surprises up", edit(TRAIN, "(logits, target)", "(logits, target, reduction='sum')")),
    Answer("00b.5", "tests on the training words", edit(TRAIN, "model(x_held)", "model(x)")),
    Answer("00b.5", "probabilities of the held-out words",
           edit(TRAIN, "held = model(x_held)", "held = torch.softmax(model(x_held), dim=1)")),
    Answer("00b.5", "new_model is not called", edit(TRAIN, "new_model()", "new_model")),
    Answer("00b.5", "a minus before the loss", edit(TRAIN, "loss.backward()", "(-loss).backward()")),
    # 00b.6
    Answer("00b.6", "as measured", GUESS, right=True),
    Answer("00b.6", "in capitals", GUESS.replace('"yes"', '"Yes"').replace('"no"', '"NO"'), right=True),
    Answer("00b.6", "True and False", GUESS.replace('"yes"', "True").replace('"no"', "False"), right=True),
    Answer("00b.6", "Adam is a plain step with another name",
           edit(edit(GUESS, ADAM + '"yes"', ADAM + '"no"'), FIRST + '"no"', FIRST + '"yes"')),
    Answer("00b.6", "Adam follows the scale of the loss", edit(GUESS, ADAM + '"yes"', ADAM + '"no"')),
    Answer("00b.6", "no step follows the scale", edit(GUESS, PLAIN + '"no"', PLAIN + '"yes"')),
    Answer("00b.6", "momentum stops where it is level", edit(GUESS, ROLLS + '"yes"', ROLLS + '"no"')),
    Answer("00b.6", "clipping cuts each entry", edit(GUESS, TURNS + '"no"', TURNS + '"yes"')),
    Answer("00b.6", "no gradient, no decay", edit(GUESS, DECAYS + '"yes"', DECAYS + '"no"')),
    Answer("00b.6", "Adam's first step is longer where it is steep", edit(GUESS, FIRST + '"no"', FIRST + '"yes"')),
    Answer("00b.6", "nothing moves without a gradient",
           edit(edit(GUESS, ROLLS + '"yes"', ROLLS + '"no"'), DECAYS + '"yes"', DECAYS + '"no"')),
    Answer("00b.6", "yes to everything", GUESS.replace('"no"', '"yes"')),
    Answer("00b.6", "one left open", edit(GUESS, TURNS + '"no"', TURNS + "None")),
)
