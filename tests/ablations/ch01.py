"""Ablations of chapter 01, Kernel regression."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "Asking which measurements matter beats the mean of everything.",
        "the measurements handed to other places",
        "assert mse_kernel < 0.06",
        "prediction = nadaraya_watson(places, x, y, bandwidth=0.25)",
        "prediction = nadaraya_watson(places, x, y[torch.randperm(50)], bandwidth=0.25)",
    ),
    Ablation(
        "A column of the weights adds up to nothing in particular.",
        "columns normalised as well",
        "assert columns.max() - columns.min() > 0.3",
        "rows, columns = weights.sum(dim=1), weights.sum(dim=0)",
        "weights = weights / weights.sum(0); rows, columns = torch.ones(50), weights.sum(dim=0)",
    ),
    Ablation(
        "Cold is decisive, hot is indifferent.",
        "scores multiplied by the temperature",
        "torch.testing.assert_close(blends[0.01], values[0])",
        "blends = {temperature: soft_lookup(query, keys, values, temperature)[0]",
        "blends = {temperature: soft_lookup(query, keys, values, 1 / temperature)[0]",
    ),
    Ablation(
        "The weighted mean is the constant that fits best, and at the end of the data a constant cannot follow the slope.",
        "neighbours on both sides of the first place",
        "assert prediction[0] > truth(places)[0] + 0.3",
        "prediction = nadaraya_watson(places, x, y, bandwidth=0.25)",
        "x, y = torch.cat([-x.flip(0), x]), torch.cat([-y.flip(0), y]); prediction = nadaraya_watson(places, x, y, bandwidth=0.25)",
    ),
    Ablation(
        "Too cold is variance, too hot is bias.",
        "measurements without noise",
        "assert list(variance) == sorted(variance, reverse=True)",
        "return at, truth(at) + 0.5 *",
        "return at, truth(at) + 0.0 *",
    ),
    Ablation(
        "Leave-one-out usually finds a bandwidth nearly as good as the one that the truth would have chosen.",
        "nobody left out",
        "assert cost.median() < 1.2",
        "return ({s: loo_error(x, y, s).item() for s in candidates},",
        "return ({s: (nadaraya_watson(x, x, y, s) - y).pow(2).mean().item() for s in candidates},",
    ),
    Ablation(
        "Leave-one-out chose too wide a bandwidth because most years it left out made gaps of two years.",
        "all known years",
        "assert min(alone, key=alone.get) < 0.6",
        "between = torch.arange(len(year))[~hidden] % 4 == 0",
        "between = torch.arange(len(year))[~hidden] >= 0",
    ),
    Ablation(
        "The years to come resemble what followed a similar stretch.",
        "what followed, shuffled",
        "assert before[1] > before[3] + 4",
        "    keys, values, query, target = windows(p)\n    by_loo",
        "    keys, values, query, target = windows(p)\n    values = values[torch.randperm(len(values))]\n    by_loo",
    ),
    Ablation(
        "Thirty years are worse than three already in leave-one-out, because the others add differences to the distance.",
        "the years before the last three wiped out",
        "assert before[1] > before[3] + 4",
        "    keys = torch.stack(stretches) / spots[:200].std()  # (m, p)",
        "    keys = torch.stack(stretches) / spots[:200].std()\n    keys[:, :-3] = 0",
    ),
    Ablation(
        "After 1900 something else is added: the sun became more active.",
        "years before and after mixed",
        "assert added[30] > 13",
        "values, past = spots[p:], year[p:] < 1900",
        "values, past = spots[p:], torch.arange(len(spots) - p) % 3 > 0",
    ),
    Ablation(
        "With many features the nearest key is no longer much nearer than the mean.",
        "every feature the same number",
        "assert years[1] < 0.2 and years[4] > 0.35",
        "random = torch.rand(200, d, generator=g), torch.rand(500, d, generator=g)",
        "random = torch.rand(200, 1).expand(200, d), torch.rand(500, 1).expand(500, d)\n"
        "    keys, query = keys[:, :1].expand(-1, d), query[:, :1].expand(-1, d)",
    ),
    Ablation(
        "Learned factors repair the kernel when there are many features.",
        "nothing learned",
        "assert learned[9] < equal[9][1] - 2",
        "fit(model, loss, steps=300, lr=0.03,",
        "fit(model, loss, steps=300, lr=1e-9,",
    ),
    Ablation(
        "A point must not attend to itself while the factors are learned.",
        "points see themselves in training",
        "assert learned[9] < equal[9][1] - 2",
        "guess = model(keys, keys, values, exclude_self=True)",
        "guess = model(keys, keys, values)",
    ),
    Ablation(
        "A ceiling hardly costs the linear model anything.",
        "a ceiling of 100",
        "assert rmse(clamped, target) - score",
        "clamped = linear.clamp(max=values.max())\n",
        "clamped = linear.clamp(max=100)\n",
    ),
    Ablation(
        "The kernel loses to the linear model in the years without a near neighbour.",
        "any quarter of the years",
        "assert near_lead < 0.5 and far_lead > 5",
        "far = nearest > nearest.quantile(0.75)",
        "far = torch.arange(len(target)) % 4 == 1",
    ),
    Ablation(
        "It loses there because neighbours are missing.",
        "all other years of the three centuries as neighbours",
        "assert near_lead < 0.5 and far_lead > 5",
        "nearest = apart.min(dim=1).values               # (query,)",
        "    whole, known = torch.cat([keys, query]), torch.cat([values, target])\n"
        "    kernel = kernel_of[9](whole, whole, known, exclude_self=True)[len(keys):]\n"
        "nearest = apart.min(dim=1).values",
    ),
    Ablation(
        "A dot product gives the Gaussian's weights only when all keys are equally long.",
        "one key longer than the others",
        "assert gap(same_length) < 1e-6",
        "same_length = nn.functional.normalize(keys, dim=-1)",
        "same_length = nn.functional.normalize(keys, dim=-1)\nsame_length[0] *= 1.1",
    ),
    Ablation(
        "Softmax attention is a Gaussian kernel with a head start for long keys.",
        "no head start",
        "torch.testing.assert_close(attention, gaussian)",
        "head_start = torch.exp(keys.pow(2).sum(1) / 2)",
        "head_start = torch.ones(6)",
    ),
]
