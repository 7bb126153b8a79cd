"""Chapter 01: answers written from the blank notebook."""

from . import Answer, edit

WEIGHTS = """
def gaussian_weights(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")
    scores = -(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    scores = scores - scores.max(dim=1, keepdim=True).values
    kernel = torch.exp(scores)
    return kernel / kernel.sum(dim=1, keepdim=True)
"""

BARE = """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth} is not positive")
    kernel = torch.exp(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2))
    return kernel / kernel.sum(dim=1, keepdim=True)
"""

REGRESSION = """
def nadaraya_watson(query, keys, values, bandwidth):
    if len(keys) == 0 or len(keys) != len(values):
        raise ValueError(f"{len(keys)} keys and {len(values)} values")
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth}")
    scores = -(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    weights = torch.softmax(scores, dim=1)
    return weights @ values
"""

LIMITS = """
prediction_of_limits = {
    "bandwidth -> 0": "nearest",
    "bandwidth -> infinity": "mean",
    "sum of a row": "one",
    "sum of a column": "not one",
}
"""

LOOKUP = """
def soft_lookup(query, keys, values, temperature):
    scores = query @ keys.T                                  # (m, n)
    shares = torch.softmax(scores / temperature, dim=-1)     # (m, n)
    return shares @ values                                   # (m, d_v)
"""

LOO = """
def loo_error(keys, values, bandwidth):
    n = len(keys)
    if n < 2:
        raise ValueError(f"leave-one-out needs two points, not {n}")
    scores = -(keys[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    itself = torch.eye(n, dtype=torch.bool)
    scores = scores.masked_fill(itself, float("-inf"))
    prediction = torch.softmax(scores, dim=1) @ values
    return ((prediction - values) ** 2).mean()
"""

LOO_LATE = """
def loo_error(keys, values, bandwidth):
    n = len(keys)
    if n < 2:
        raise ValueError(f"leave-one-out needs two points, not {n}")
    scores = -(keys[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    weights = torch.softmax(scores, dim=1) * (1 - torch.eye(n))
    prediction = weights @ values
    return ((prediction - values) ** 2).mean()
"""

LEARNED = """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        difference = query[:, None, :] - keys[None, :, :]    # (m, n, d)
        scores = -0.5 * (self.w * difference).pow(2).sum(dim=-1)
        if exclude_self:
            itself = torch.eye(len(query), dtype=torch.bool)
            scores = scores.masked_fill(itself, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ values
"""

DOT = """
def dot_product_scores(query, keys):
    lengths = (keys**2).sum(dim=1)                           # (n,)
    return query @ keys.T - 0.5 * lengths
"""

BANK = (
    # 01.1
    Answer("01.1", "the largest exponent of each row subtracted", WEIGHTS, right=True),
    Answer("01.1", "a softmax of the scaled distances", """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError("bandwidth has to be > 0, got " + str(bandwidth))
    z = (query.unsqueeze(1) - keys.unsqueeze(0)) / bandwidth
    return nn.functional.softmax(-0.5 * z.square(), dim=-1)
""", right=True),
    Answer("01.1", "in log-space with logsumexp", """
def gaussian_weights(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"cannot use a kernel of width {bandwidth}")
    log_kernel = -torch.pow(torch.sub(query.reshape(-1, 1), keys.reshape(1, -1)) / bandwidth, 2) / 2
    return (log_kernel - torch.logsumexp(log_kernel, dim=1, keepdim=True)).exp()
""", right=True),
    Answer("01.1", "one row at a time, the nearest key as the reference", """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0.0:
        raise ValueError(f"bandwidth = {bandwidth!r}: it must be greater than zero")
    table = query.new_zeros(len(query), len(keys))
    for i in range(len(query)):
        squared = ((query[i] - keys) / bandwidth) ** 2
        kernel = torch.exp((squared.min() - squared) / 2)
        table[i] = kernel / kernel.sum()
    return table
""", right=True),
    Answer("01.1", "divides 0 by 0 when all kernel values of a far query underflow", BARE),
    Answer("01.1", "adds a small number to the sum, so the weights of a far query sum to 0",
           edit(BARE, "kernel.sum(dim=1, keepdim=True)", "(kernel.sum(dim=1, keepdim=True) + 1e-9)")),
    Answer("01.1", "replaces the nan of a far query by 0, so its row sums to 0", edit(
        BARE, "kernel / kernel.sum(dim=1, keepdim=True)", "torch.nan_to_num(kernel / kernel.sum(dim=1, keepdim=True))")),
    Answer("01.1", "subtracts one maximum for the whole matrix, which does not help a far row", edit(
        WEIGHTS, "scores.max(dim=1, keepdim=True).values", "scores.max()")),
    Answer("01.1", "holds the kernel above a small number, so a far query gets equal weights instead of the nearest key", edit(
        BARE, "/ (2 * bandwidth**2))", "/ (2 * bandwidth**2)).clamp(min=1e-30)")),
    Answer("01.1", "forgets the factor 2 under the fraction", edit(WEIGHTS, "(2 * bandwidth**2)", "bandwidth**2")),
    Answer("01.1", "does not square the bandwidth", edit(WEIGHTS, "(2 * bandwidth**2)", "(2 * bandwidth)")),
    Answer("01.1", "multiplies by the variance: the brackets under the fraction are missing", edit(
        WEIGHTS, "(2 * bandwidth**2)", "2 * bandwidth**2")),
    Answer("01.1", "the distance instead of its square", edit(
        WEIGHTS, "-(query[:, None] - keys[None, :]) ** 2", "-(query[:, None] - keys[None, :]).abs()")),
    Answer("01.1", "the minus is missing, so far keys weigh most", edit(WEIGHTS, "-(query[:", "(query[:")),
    Answer("01.1", "normalises the columns", """
def gaussian_weights(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")
    return torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2), dim=0)
"""),
    Answer("01.1", "rows are keys and columns are queries", """
def gaussian_weights(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")
    return torch.softmax(-(query[None, :] - keys[:, None]) ** 2 / (2 * bandwidth**2), dim=0)
"""),
    Answer("01.1", "does not keep the summed axis, so the division lines up with the columns", edit(
        WEIGHTS, "kernel.sum(dim=1, keepdim=True)", "kernel.sum(dim=1)")),
    Answer("01.1", "does not normalise at all", edit(BARE, "kernel / kernel.sum(dim=1, keepdim=True)", "kernel")),
    Answer("01.1", "does not test the bandwidth", """
def gaussian_weights(query, keys, bandwidth):
    scores = -(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    return torch.softmax(scores, dim=1)
"""),
    Answer("01.1", "lets a bandwidth of 0 pass", edit(WEIGHTS, "if not bandwidth > 0", "if bandwidth < 0")),
    Answer("01.1", "leaves the number out of the message", edit(
        WEIGHTS, 'f"the bandwidth must be positive, not {bandwidth}"', '"the bandwidth must be positive"')),
    Answer("01.1", "an assertion instead of a ValueError", edit(
        WEIGHTS, """    if not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")""",
        '    assert bandwidth > 0, f"the bandwidth must be positive, not {bandwidth}"')),
    Answer("01.1", "returns the ValueError instead of raising it", edit(WEIGHTS, "raise ValueError", "return ValueError")),
    Answer("01.1", "ignores the bandwidth and uses that of the example", edit(WEIGHTS, "(2 * bandwidth**2)", "(2 * 0.25**2)")),
    Answer("01.1", "shifts the caller's query and keys in place", edit(
        WEIGHTS, "    scores = -(query", "    query -= keys[0].clone()\n    keys -= keys[0].clone()\n    scores = -(query")),
    Answer("01.1", "takes the weights for one query only", """
def gaussian_weights(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")
    return torch.softmax(-(query[0] - keys) ** 2 / (2 * bandwidth**2), dim=0)[None]
"""),

    # 01.2
    Answer("01.2", "softmax, then a product of matrix and vector", REGRESSION, right=True),
    Answer("01.2", "numerator and denominator, the nearest kernel value set to 1", """
def nadaraya_watson(query, keys, values, bandwidth):
    n, n_values = keys.shape[0], values.shape[0]
    if n != n_values:
        raise ValueError(f"keys and values must go together, but there are {n} and {n_values}")
    if n == 0:
        raise ValueError("not a single point: 0 keys, 0 values")
    if bandwidth <= 0:
        raise ValueError(f"bandwidth must be positive, got {bandwidth}")
    exponent = -0.5 * ((query.view(-1, 1) - keys) / bandwidth).pow(2)
    kernel = (exponent - exponent.amax(dim=-1, keepdim=True)).exp()
    return (kernel * values).sum(dim=-1) / kernel.sum(dim=-1)
""", right=True),
    Answer("01.2", "calls gaussian_weights of the exercise before", WEIGHTS + """
def nadaraya_watson(query, keys, values, bandwidth):
    if keys.numel() != values.numel():
        raise ValueError(f"got {keys.numel()} keys but {values.numel()} values")
    if not keys.numel():
        raise ValueError(f"no points (keys: {keys.numel()}, values: {values.numel()})")
    alpha = gaussian_weights(query, keys, bandwidth)
    return torch.einsum("mn,n->m", alpha, values)
""", right=True),
    Answer("01.2", "one query at a time", """
def nadaraya_watson(query, keys, values, bandwidth):
    if len(values) != len(keys):
        raise ValueError("there are %d keys and %d values" % (len(keys), len(values)))
    if len(values) < 1:
        raise ValueError("at least one point is needed, there are 0")
    if bandwidth <= 0:
        raise ValueError("bandwidth %s" % bandwidth)

    def predict(place):
        shares = torch.softmax(-(place - keys) ** 2 / 2 / bandwidth**2, dim=0)
        return torch.dot(shares, values)

    answer = torch.empty(len(query), dtype=values.dtype)
    for i, place in enumerate(query):
        answer[i] = predict(place)
    return answer
""", right=True),
    Answer("01.2", "softmax over the queries", edit(REGRESSION, "dim=1", "dim=0")),
    Answer("01.2", "multiplies the transposed weights with the values", edit(REGRESSION, "weights @ values", "weights.T @ values")),
    Answer("01.2", "mean instead of sum of the weighted values", edit(REGRESSION, "weights @ values", "(weights * values).mean(dim=1)")),
    Answer("01.2", "each weight is multiplied by the value of its row, not of its column", edit(
        REGRESSION, "weights @ values", "(weights * values[:, None]).sum(dim=1)")),
    Answer("01.2", "the kernel is not normalised", edit(REGRESSION, "torch.softmax(scores, dim=1)", "torch.exp(scores)")),
    Answer("01.2", "divides 0 by 0 for a far query", edit(
        REGRESSION, "torch.softmax(scores, dim=1)", "torch.exp(scores) / torch.exp(scores).sum(dim=1, keepdim=True)")),
    Answer("01.2", "predicts 0 for a far query", edit(
        REGRESSION, "torch.softmax(scores, dim=1)", "torch.exp(scores) / (torch.exp(scores).sum(dim=1, keepdim=True) + 1e-12)")),
    Answer("01.2", "tests nothing: no points give zeros", """
def nadaraya_watson(query, keys, values, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth}")
    scores = -(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2)
    return torch.softmax(scores, dim=1) @ values
"""),
    Answer("01.2", "forgets the case of no point", edit(REGRESSION, "len(keys) == 0 or ", "")),
    Answer("01.2", "does not compare the numbers of keys and values", edit(REGRESSION, " or len(keys) != len(values)", "")),
    Answer("01.2", "cuts keys and values to the shorter of the two instead of refusing", edit(
        REGRESSION, """    if len(keys) == 0 or len(keys) != len(values):
        raise ValueError(f"{len(keys)} keys and {len(values)} values")""",
        """    n = min(len(keys), len(values))
    keys, values = keys[:n], values[:n]
    if n == 0:
        raise ValueError(f"{len(keys)} keys and {len(values)} values")""")),
    Answer("01.2", "refuses only when there are more keys than values", edit(
        REGRESSION, "len(keys) != len(values)", "len(keys) > len(values)")),
    Answer("01.2", "the message does not give the two numbers", edit(
        REGRESSION, 'f"{len(keys)} keys and {len(values)} values"', '"keys and values must be of the same number, at least one"')),
    Answer("01.2", "an IndexError instead of a ValueError", edit(
        REGRESSION, 'ValueError(f"{len(keys)} keys', 'IndexError(f"{len(keys)} keys')),
    Answer("01.2", "compares the number of queries with that of the values, too", edit(
        REGRESSION, "len(keys) == 0 or ", "len(keys) == 0 or len(query) != len(values) or ")),
    Answer("01.2", "takes the value of the nearest key instead of mixing", edit(
        REGRESSION, "weights @ values", "values[weights.argmax(dim=1)]")),
    Answer("01.2", "returns a column (m, 1)", edit(REGRESSION, "weights @ values", "weights @ values[:, None]")),
    Answer("01.2", "returns the weights beside the prediction", edit(
        REGRESSION, "return weights @ values", "return weights @ values, weights")),
    Answer("01.2", "squeezes the weights, so a single query comes back without its axis", edit(
        REGRESSION, "weights @ values", "weights.squeeze() @ values")),
    Answer("01.2", "sorts the keys and leaves the values in their old order", edit(
        REGRESSION, "    scores =", "    keys = keys.sort().values\n    scores =")),
    Answer("01.2", "ignores the bandwidth and uses 0.25", edit(REGRESSION, "(2 * bandwidth**2)", "(2 * 0.25**2)")),
    Answer("01.2", "forgets to square the bandwidth", edit(REGRESSION, "(2 * bandwidth**2)", "(2 * bandwidth)")),
    Answer("01.2", "predicts the mean of everything", edit(REGRESSION, "weights @ values", "values.mean().expand(len(query))")),
    Answer("01.2", "centres the caller's values in place", edit(
        REGRESSION, "    return weights @ values", "    mean = values.mean()\n    values -= mean\n    return weights @ values + mean")),

    # 01.3
    Answer("01.3", "the four words", LIMITS, right=True),
    Answer("01.3", "written with dict and zip", """
places = ["bandwidth -> 0", "bandwidth -> infinity", "sum of a row", "sum of a column"]
prediction_of_limits = dict(zip(places, ("nearest", "mean", "one", "not one")))
""", right=True),
    Answer("01.3", "filled in one by one, in another order", """
prediction_of_limits = {}
prediction_of_limits["sum of a column"] = "not one"
prediction_of_limits["sum of a row"] = "one"
prediction_of_limits["bandwidth -> infinity"] = "mean"
prediction_of_limits["bandwidth -> 0"] = "nearest"
""", right=True),
    Answer("01.3", "thinks that tiny kernel values make the prediction 0", edit(LIMITS, '"nearest"', '"zero"')),
    Answer("01.3", "thinks that a tiny bandwidth treats all keys alike", edit(LIMITS, '"nearest"', '"mean"')),
    Answer("01.3", "thinks that a huge bandwidth makes everything vanish", edit(LIMITS, '"mean"', '"zero"')),
    Answer("01.3", "thinks that the nearest key wins at every bandwidth", edit(LIMITS, '"mean"', '"nearest"')),
    Answer("01.3", "exchanges the two limits", edit(
        edit(LIMITS, '0": "nearest"', '0": "mean"'), 'infinity": "mean"', 'infinity": "nearest"')),
    Answer("01.3", "thinks that the columns sum to one, too", edit(LIMITS, '"not one"', '"one"')),
    Answer("01.3", "thinks that nothing fixes the sum of a row", edit(LIMITS, '"sum of a row": "one"', '"sum of a row": "not one"')),
    Answer("01.3", "exchanges rows and columns", edit(
        edit(LIMITS, 'row": "one"', 'row": "not one"'), 'column": "not one"', 'column": "one"')),
    Answer("01.3", "leaves two entries empty", edit(edit(LIMITS, '"one"', "None"), '"not one"', "None")),
    Answer("01.3", "the same word for both limits", edit(edit(LIMITS, '"nearest"', '"zero"'), '"mean"', '"zero"')),

    # 01.4
    Answer("01.4", "divides the scores by the temperature", LOOKUP, right=True),
    Answer("01.4", "multiplies by the reciprocal", edit(LOOKUP, "scores / temperature", "scores * (1 / temperature)"), right=True),
    Answer("01.4", "exponentials by hand, the largest score subtracted", """
def soft_lookup(query, keys, values, temperature):
    scores = torch.einsum("md,nd->mn", query, keys)
    best, _ = scores.max(dim=1, keepdim=True)
    share = ((scores - best) / temperature).exp()
    return (share @ values) / share.sum(dim=1, keepdim=True)
""", right=True),
    Answer("01.4", "one query at a time, log_softmax", """
def soft_lookup(query, keys, values, temperature):
    answers = []
    for one in query:
        log_shares = torch.log_softmax(keys.mv(one).div(temperature), dim=0)
        answers.append(log_shares.exp() @ values)
    return torch.stack(answers)
""", right=True),
    Answer("01.4", "left as it was: multiplies by the temperature", edit(LOOKUP, "scores / temperature", "scores * temperature")),
    Answer("01.4", "divides after the softmax, where it is too late", edit(
        LOOKUP, "torch.softmax(scores / temperature, dim=-1)", "torch.softmax(scores, dim=-1) / temperature")),
    Answer("01.4", "mends the temperature and changes the axis of the softmax", edit(LOOKUP, "dim=-1", "dim=0")),
    Answer("01.4", "divides by the square of the temperature", edit(LOOKUP, "scores / temperature", "scores / temperature**2")),
    Answer("01.4", "divides by the root of the temperature", edit(LOOKUP, "scores / temperature", "scores / temperature**0.5")),
    Answer("01.4", "divides by 2 T², as in the kernel", edit(LOOKUP, "scores / temperature", "scores / (2 * temperature**2)")),
    Answer("01.4", "whole-number division in the reciprocal", edit(LOOKUP, "scores / temperature", "scores * (1 // temperature)")),
    Answer("01.4", "whole-number division of the scores", edit(LOOKUP, "scores / temperature", "scores // temperature")),
    Answer("01.4", "a minus sign instead of a quotient", edit(LOOKUP, "scores / temperature", "-scores * temperature")),
    Answer("01.4", "subtracts the temperature, which a softmax does not notice", edit(
        LOOKUP, "scores / temperature", "scores - temperature")),
    Answer("01.4", "stretches by 1 - T", edit(LOOKUP, "scores / temperature", "scores * (1 - temperature)")),
    Answer("01.4", "the temperature is left out", edit(LOOKUP, "scores / temperature", "scores")),
    Answer("01.4", "always takes the best key alone", edit(
        LOOKUP, "torch.softmax(scores / temperature, dim=-1)", "nn.functional.one_hot(scores.argmax(dim=-1), len(keys)).to(values.dtype)")),
    Answer("01.4", "does not let the temperature fall below 1", edit(LOOKUP, "scores / temperature", "scores / max(temperature, 1.0)")),
    Answer("01.4", "makes every temperature below 1 a hard look-up", edit(
        LOOKUP, "    return shares", "    if temperature < 1:\n        return values[scores.argmax(dim=-1)]\n    return shares")),
    Answer("01.4", "exponentials without care: cold look-ups overflow to nan", """
def soft_lookup(query, keys, values, temperature):
    kernel = torch.exp(query @ keys.T / temperature)
    return kernel / kernel.sum(dim=-1, keepdim=True) @ values
"""),
    Answer("01.4", "also divides by the root of the features", edit(
        LOOKUP, "scores / temperature", "scores / (temperature * query.shape[-1] ** 0.5)")),
    Answer("01.4", "returns the shares, not the blend", edit(LOOKUP, "shares @ values", "shares")),
    Answer("01.4", "divides the caller's query in place", edit(
        edit(LOOKUP, "scores / temperature", "scores"), "    scores = ", "    query /= temperature\n    scores = ")),
    Answer("01.4", "divides the values by the temperature", edit(
        edit(LOOKUP, "scores / temperature", "scores"), "shares @ values", "shares @ (values / temperature)")),

    # 01.5
    Answer("01.5", "minus infinity on the diagonal before the softmax", LOO, right=True),
    Answer("01.5", "a loop that takes each point out", """
def loo_error(keys, values, bandwidth):
    n = keys.shape[0]
    if n <= 1:
        raise ValueError(f"only {n} point(s): nobody is left to predict from")
    errors = []
    for i in range(n):
        others = torch.cat([keys[:i], keys[i + 1:]])
        known = torch.cat([values[:i], values[i + 1:]])
        shares = torch.softmax(-((keys[i] - others) / bandwidth) ** 2 / 2, dim=0)
        errors.append((shares @ known - values[i]) ** 2)
    return torch.stack(errors).mean()
""", right=True),
    Answer("01.5", "off-diagonal entries only, in a table of n by n - 1", """
def loo_error(keys, values, bandwidth):
    n = len(keys)
    if n < 2:
        raise ValueError("number of points: %d, needed: 2" % n)
    others = torch.tensor([[j for j in range(n) if j != i] for i in range(n)])      # (n, n - 1)
    squared = (keys[:, None] - keys[others]).square() / bandwidth**2
    nearest = squared.min(dim=1, keepdim=True).values
    kernel = torch.exp(-0.5 * (squared - nearest))
    prediction = (kernel * values[others]).sum(1) / kernel.sum(1)
    return nn.functional.mse_loss(prediction, values)
""", right=True),
    Answer("01.5", "fill_diagonal_ on a copy, logsumexp", """
def loo_error(keys, values, bandwidth):
    if keys.numel() < 2:
        raise ValueError(f"{keys.numel()} is too few")
    scores = -(keys.unsqueeze(0) - keys.unsqueeze(1)).pow(2) / (2 * bandwidth * bandwidth)
    scores = scores.clone().fill_diagonal_(-torch.inf)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    error = values - torch.einsum("ij,j->i", weights, values)
    return error.dot(error) / keys.numel()
""", right=True),
    Answer("01.5", "lets every point attend to itself", edit(LOO, '    scores = scores.masked_fill(itself, float("-inf"))\n', "")),
    Answer("01.5", "removes the diagonal after the softmax, so the others do not sum to 1", LOO_LATE),
    Answer("01.5", "removes the diagonal after the softmax and divides 0 by 0 for a lonely point", edit(
        LOO_LATE, "    prediction =", "    weights = weights / weights.sum(dim=1, keepdim=True)\n    prediction =")),
    Answer("01.5", "removes the diagonal late and turns the nan of a lonely point into a prediction of 0", edit(
        LOO_LATE, "    prediction =", "    weights = (weights / weights.sum(dim=1, keepdim=True)).nan_to_num(0.0)\n    prediction =")),
    Answer("01.5", "exponentials without care: a lonely point gives nan", """
def loo_error(keys, values, bandwidth):
    n = len(keys)
    if n < 2:
        raise ValueError(f"leave-one-out needs two points, not {n}")
    kernel = torch.exp(-(keys[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2))
    kernel = kernel.masked_fill(torch.eye(n, dtype=torch.bool), 0.0)
    prediction = (kernel @ values) / kernel.sum(dim=1)
    return ((prediction - values) ** 2).mean()
"""),
    Answer("01.5", "sets the score of a point with itself to 0, the largest there is", edit(LOO, 'float("-inf")', "0.0")),
    Answer("01.5", "-10,000 on the diagonal, which is not small enough for points far apart", edit(LOO, 'float("-inf")', "-1e4")),
    Answer("01.5", "keeps the diagonal and forbids all the others", edit(LOO, "masked_fill(itself,", "masked_fill(~itself,")),
    Answer("01.5", "forbids every key at distance 0, also another point at the same place", edit(
        LOO, "torch.eye(n, dtype=torch.bool)", "keys[:, None] == keys[None, :]")),
    Answer("01.5", "softmax over the queries", edit(LOO, "torch.softmax(scores, dim=1)", "torch.softmax(scores, dim=0)")),
    Answer("01.5", "the sum of the squared errors, not their mean", edit(LOO, "** 2).mean()", "** 2).sum()")),
    Answer("01.5", "divides by n - 1", edit(LOO, "** 2).mean()", "** 2).sum() / (n - 1)")),
    Answer("01.5", "the root of the mean squared error", edit(LOO, "** 2).mean()", "** 2).mean().sqrt()")),
    Answer("01.5", "the mean absolute error", edit(LOO, "((prediction - values) ** 2).mean()", "(prediction - values).abs().mean()")),
    Answer("01.5", "returns one error for each point", edit(LOO, "** 2).mean()", "** 2)")),
    Answer("01.5", "returns a Python number, not a tensor", edit(LOO, "** 2).mean()", "** 2).mean().item()")),
    Answer("01.5", "refuses only an empty set, not a single point", edit(LOO, "if n < 2", "if n < 1")),
    Answer("01.5", "refuses two points as well", edit(LOO, "if n < 2", "if n <= 2")),
    Answer("01.5", "returns 0 instead of raising", edit(
        LOO, 'raise ValueError(f"leave-one-out needs two points, not {n}")', "return torch.tensor(0.0)")),
    Answer("01.5", "leaves the number of points out of the message", edit(
        LOO, 'f"leave-one-out needs two points, not {n}"', '"too few points"')),
    Answer("01.5", "forgets the factor 2", edit(LOO, "(2 * bandwidth**2)", "bandwidth**2")),
    Answer("01.5", "compares the predictions with the places, not the measurements", edit(
        LOO, "(prediction - values)", "(prediction - keys)")),
    Answer("01.5", "leaves out neighbours in the list, too", edit(
        LOO, "torch.eye(n, dtype=torch.bool)", "(torch.arange(n)[:, None] - torch.arange(n)).abs() <= 1")),

    # 01.6
    Answer("01.6", "three axes, the factor on the last", LEARNED, right=True),
    Answer("01.6", "scales queries and keys first, and adds up feature by feature", """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.full((num_features,), 1.0))

    def scores(self, query, keys):
        q, k = query * self.w, keys * self.w
        total = torch.zeros(len(q), len(k), dtype=q.dtype, device=q.device)
        for j in range(q.shape[1]):
            total = total + (q[:, j].unsqueeze(1) - k[:, j].unsqueeze(0)) ** 2
        return -total / 2

    def forward(self, query, keys, values, exclude_self=False):
        s = self.scores(query, keys)
        if exclude_self:
            s = s + torch.diag(torch.full((len(s),), -torch.inf, dtype=s.dtype))
        return (torch.softmax(s, dim=1) * values).sum(dim=1)
""", right=True),
    Answer("01.6", "einsum with w², and the weights as exponentials against the nearest", """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        squares = (query.unsqueeze(1) - keys.unsqueeze(0)).square()
        distance = torch.einsum("mnd,d->mn", squares, self.w * self.w)
        if exclude_self:
            m, n = distance.shape
            rows, columns = torch.arange(m).unsqueeze(1), torch.arange(n).unsqueeze(0)
            distance = torch.where(rows == columns, torch.full_like(distance, torch.inf), distance)
        nearest = distance.min(dim=1, keepdim=True).values
        kernel = torch.exp((nearest - distance) / 2)
        return kernel @ values / kernel.sum(dim=1)
""", right=True),
    Answer("01.6", "one query at a time, the others picked by index", """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.register_parameter("w", nn.Parameter(torch.ones(num_features)))

    def forward(self, query, keys, values, exclude_self=False):
        predictions = []
        for i in range(len(query)):
            allowed = [j for j in range(len(keys)) if not (exclude_self and i == j)]
            scaled = (query[i] - keys[allowed]) * self.w
            shares = torch.softmax(-0.5 * (scaled * scaled).sum(dim=-1), dim=0)
            predictions.append((shares * values[allowed]).sum())
        return torch.stack(predictions)
""", right=True),
    Answer("01.6", "w is a plain tensor, which nobody trains", edit(
        LEARNED, "nn.Parameter(torch.ones(num_features))", "torch.ones(num_features)")),
    Answer("01.6", "starts at random, not at 1", edit(LEARNED, "torch.ones", "torch.randn")),
    Answer("01.6", "starts at 0", edit(LEARNED, "torch.ones", "torch.zeros")),
    Answer("01.6", "one width for all features together", edit(LEARNED, "torch.ones(num_features)", "torch.ones(1)")),
    Answer("01.6", "w stands outside the square", edit(
        LEARNED, "(self.w * difference).pow(2).sum(dim=-1)", "(self.w * difference.pow(2)).sum(dim=-1)")),
    Answer("01.6", "divides by w, which is an inverse width already", edit(LEARNED, "self.w * difference", "difference / self.w")),
    Answer("01.6", "forgets the one half", edit(LEARNED, "-0.5 * (", "-(")),
    Answer("01.6", "sums over the features before squaring", edit(LEARNED, ".pow(2).sum(dim=-1)", ".sum(dim=-1).pow(2)")),
    Answer("01.6", "the mean over the features, not the sum", edit(LEARNED, ".pow(2).sum(dim=-1)", ".pow(2).mean(dim=-1)")),
    Answer("01.6", "the minus is missing", edit(LEARNED, "-0.5 * (", "0.5 * (")),
    Answer("01.6", "ignores exclude_self", edit(
        LEARNED, """        if exclude_self:
            itself = torch.eye(len(query), dtype=torch.bool)
            scores = scores.masked_fill(itself, float("-inf"))
""", "")),
    Answer("01.6", "excludes the diagonal whenever there are as many queries as keys", edit(
        LEARNED, "if exclude_self:", "if len(query) == len(keys):")),
    Answer("01.6", "excludes by default", edit(LEARNED, "exclude_self=False", "exclude_self=True")),
    Answer("01.6", "removes the diagonal after the softmax, so the rest does not sum to 1", """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        difference = query[:, None, :] - keys[None, :, :]
        weights = torch.softmax(-0.5 * (self.w * difference).pow(2).sum(dim=-1), dim=-1)
        if exclude_self:
            weights = weights * (1 - torch.eye(len(query)))
        return weights @ values
"""),
    Answer("01.6", "a score of 0 for a point with itself, the largest there is", edit(LEARNED, 'float("-inf")', "0.0")),
    Answer("01.6", "-10,000 is not small enough when the points lie far from each other", edit(LEARNED, 'float("-inf")', "-1e4")),
    Answer("01.6", "exponentials without care: nan for far queries", edit(
        LEARNED, "torch.softmax(scores, dim=-1)", "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")),
    Answer("01.6", "softmax over the queries", edit(LEARNED, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=0)")),
    Answer("01.6", "uses w.data, so no gradient reaches w", edit(LEARNED, "self.w * difference", "self.w.data * difference")),
    Answer("01.6", "treats a negative w as 0", edit(LEARNED, "self.w * difference", "self.w.clamp(min=0) * difference")),
    Answer("01.6", "learns a temperature beside w", edit(edit(
        LEARNED, "self.w = nn.Parameter(torch.ones(num_features))",
        "self.w = nn.Parameter(torch.ones(num_features))\n        self.t = nn.Parameter(torch.ones(()))"),
        "torch.softmax(scores, dim=-1)", "torch.softmax(scores / self.t, dim=-1)")),
    Answer("01.6", "scales the caller's keys in place", edit(edit(
        LEARNED, "        difference =", "        query = query * self.w\n        keys *= self.w\n        difference ="),
        "(self.w * difference)", "difference")),
    Answer("01.6", "remembers exclude_self for all later calls", edit(edit(
        LEARNED, "        if exclude_self:", "        self.exclude = self.exclude or exclude_self\n        if self.exclude:"),
        "        super().__init__()", "        super().__init__()\n        self.exclude = False")),
    Answer("01.6", "returns the weights too", edit(LEARNED, "return weights @ values", "return weights @ values, weights")),

    # 01.7
    Answer("01.7", "dot product less half the squared length of each key", DOT, right=True),
    Answer("01.7", "keeps the query's term as well", """
def dot_product_scores(query, keys):
    half = lambda a: a.pow(2).sum(-1) / 2
    return torch.einsum("md,nd->mn", query, keys) - half(keys).unsqueeze(0) - half(query).unsqueeze(1)
""", right=True),
    Answer("01.7", "one product, with the lengths as an additional feature", """
def dot_product_scores(query, keys):
    one = torch.ones_like(query[:, :1])
    extra = -0.5 * torch.linalg.vector_norm(keys, dim=1, keepdim=True) ** 2
    return torch.cat([query, one], dim=1) @ torch.cat([keys, extra], dim=1).T
""", right=True),
    Answer("01.7", "(q - k/2) · k, summed by broadcasting", """
def dot_product_scores(query, keys):
    return ((query[:, None, :] - keys / 2) * keys).sum(dim=2)
""", right=True),
    Answer("01.7", "the bare dot product: right only for keys of equal length", edit(DOT, " - 0.5 * lengths", "")),
    Answer("01.7", "forgets the one half", edit(DOT, "- 0.5 * lengths", "- lengths")),
    Answer("01.7", "adds the term of the key", edit(DOT, "- 0.5 *", "+ 0.5 *")),
    Answer("01.7", "halves the dot product, too", edit(DOT, "query @ keys.T - 0.5 * lengths", "0.5 * (query @ keys.T - lengths)")),
    Answer("01.7", "the length, not its square", edit(DOT, "(keys**2).sum(dim=1)", "keys.norm(dim=1)")),
    Answer("01.7", "drops the term of the key and keeps that of the query", edit(
        DOT, "- 0.5 * lengths", "- 0.5 * (query**2).sum(dim=1, keepdim=True)")),
    Answer("01.7", "subtracts the lengths from the rows, not the columns", edit(DOT, "0.5 * lengths", "0.5 * lengths[:, None]")),
    Answer("01.7", "one number for all keys together", edit(DOT, "(keys**2).sum(dim=1)", "(keys**2).sum()")),
    Answer("01.7", "sums the squares over the keys, not over the features", edit(DOT, "dim=1", "dim=0")),
    Answer("01.7", "the mean of the squares, not their sum", edit(DOT, "(keys**2).sum(dim=1)", "(keys**2).mean(dim=1)")),
    Answer("01.7", "squares the sum instead of summing the squares", edit(DOT, "(keys**2).sum(dim=1)", "keys.sum(dim=1) ** 2")),
    Answer("01.7", "makes all keys equally long", """
def dot_product_scores(query, keys):
    return query @ nn.functional.normalize(keys, dim=-1).T
"""),
    Answer("01.7", "subtracts the length of the first key everywhere", edit(DOT, "0.5 * lengths", "0.5 * lengths[0]")),
    Answer("01.7", "cosines", """
def dot_product_scores(query, keys):
    return nn.functional.cosine_similarity(query[:, None], keys[None], dim=-1)
"""),
    Answer("01.7", "rows are keys and columns are queries", edit(
        DOT, "query @ keys.T - 0.5 * lengths", "keys @ query.T - 0.5 * lengths[:, None]")),
    Answer("01.7", "the distance itself by torch.cdist, which is out of bounds", """
def dot_product_scores(query, keys):
    return -0.5 * torch.cdist(query, keys) ** 2
"""),
    Answer("01.7", "divides by the root of the features", edit(
        DOT, "query @ keys.T - 0.5 * lengths", "(query @ keys.T - 0.5 * lengths) / keys.shape[1] ** 0.5")),
    Answer("01.7", "returns the weights, not the scores", edit(
        DOT, "query @ keys.T - 0.5 * lengths", "torch.softmax(query @ keys.T - 0.5 * lengths, dim=-1)")),
    Answer("01.7", "compares the keys with themselves", edit(DOT, "query @", "keys @")),
    Answer("01.7", "squares the caller's keys in place", """
def dot_product_scores(query, keys):
    product = query @ keys.T
    return product - 0.5 * keys.pow_(2).sum(dim=1)
"""),
)
