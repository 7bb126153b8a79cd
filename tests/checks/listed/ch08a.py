"""Chapter 08a."""

from . import Listed

CROSS = """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    real = (source != 0)[:, None]
    scores = (y @ w_q) @ (memory @ w_k).mT / math.sqrt(w_k.shape[1])
{body}
    return weights @ (memory @ w_v), weights
"""

ENDS = """
class TiedEnds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding, self.body = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, d_model)
        {made}

    def forward(self, ids, positions):
        x = {start}
        return {end}
"""

LOSS = """
def translation_loss(model, source, target, pad_id=0):
    {test}
    given, wanted = target[:, :-1], target[:, 1:]
{scores}
    losses = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
    losses = losses * (wanted != pad_id)
    return losses.sum() / (wanted != pad_id).sum(), losses
"""
WIDTH = """if target.shape[1] < 2:
        raise ValueError(f"{target.shape[1]} tokens")"""

SMOOTH = """
def smoothed_loss(scores, target, eps=0.1):
    {test}
    log_p = torch.log_softmax(scores, -1)
    return -(1 - eps) * log_p.gather(-1, target[..., None])[..., 0] - eps * log_p.mean(-1)
"""

RATE = """
def noam_rate(step, d_model, warmup):
    if step.min() < 1:
        raise {error}
    s = step.float()
    return {width}**-0.5 * torch.minimum(s**-0.5, s * warmup**-1.5)
"""

DECODER = "from course_utils.models.multihead import MultiHeadAttention" + """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.pre = norm_place == "pre"

    def forward(self, x, memory, mask=None, memory_mask=None):
        {first}
        for branch, norm in ((lambda h: self.attention(h, mask=mask), self.norm1),
                             (lambda h: self.cross_attention(h, memory, mask=memory_mask), self.norm2),
                             (lambda h: {feed}, self.norm3)):
            x = x + branch(norm(x)) if self.pre else norm(x + branch(x))
        return x
"""

LISTED = (
    Listed("08a.1", "pads filled with -1e-9", CROSS.format(body="    weights = torch.softmax(scores.masked_fill(~real, -1e-9), -1)"),
           says=("Pads keep a score of 0",), never=("Scores multiplied by the mask",)),
    Listed("08a.1", "scaled after the softmax", CROSS.format(body="""    raw = scores * math.sqrt(w_k.shape[1])
    weights = torch.softmax(raw.masked_fill(
        ~(real | ~real.any(-1, keepdim=True)), -torch.inf), -1).masked_fill(~real, 0) / math.sqrt(w_k.shape[1])"""),
           says=("Scaled after the softmax",)),
    Listed("08a.1", "cleaned of NaN after minus infinity", CROSS.format(
        body="    weights = torch.softmax(scores.masked_fill(~real, -torch.inf), -1).masked_fill(~real, 0.0)"), right=True),
    Listed("08a.2", "a triangle of its own", DECODER.format(
        first="mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()", feed="self.linear2(torch.relu(self.linear1(h)))"),
        says=("A triangle of your own",)),
    Listed("08a.2", "ReLU after the second layer", DECODER.format(first="pass", feed="torch.relu(self.linear2(self.linear1(h)))"),
           says=("Activation after the second layer",)),
    Listed("08a.3", "the root applied to the weights in the constructor", ENDS.format(
        made="self.embedding.weight.data *= math.sqrt(d_model)", start="self.embedding(ids) + positions",
        end="self.body(x) @ self.embedding.weight.T"), says=("No factor in the call",), never=("Nothing scaled", "gone altogether")),
    Listed("08a.3", "the look-up detached", ENDS.format(
        made="pass", start="self.embedding.weight.detach()[ids] * math.sqrt(self.body.in_features) + positions",
        end="self.body(x) @ self.embedding.weight.T"), says=("Look-up cut off from learning",)),
    Listed("08a.5", "everything without gradients", LOSS.format(test=WIDTH, scores="""    with torch.no_grad():
        scores = model(source, given)"""), says=("no gradient reaches", "ut off from learning")),
    Listed("08a.5", "one call for each prefix", LOSS.format(
        test=WIDTH, scores="    scores = torch.cat([model(source, target[:, :t])[:, -1:] for t in range(1, target.shape[1])], 1)")),
    Listed("08a.5", "the whole target given, the last row dropped", LOSS.format(
        test=WIDTH, scores="    scores = model(source, target)[:, :-1]"), right=True),
    Listed("08a.5", "a row of begin and pads refused", LOSS.format(
        test="""if ((target != pad_id).sum(1) < 2).any():
        raise ValueError(f"{(target != pad_id).sum(1).min()} tokens")""", scores="    scores = model(source, given)")),
    Listed("08a.5", "losses of real tokens only", LOSS.format(test=WIDTH, scores="    scores = model(source, given)").replace(
        "losses.sum() / (wanted != pad_id).sum(), losses", "losses.sum() / (wanted != pad_id).sum(), losses[wanted != pad_id]"),
        never=("axis of length 1",)),
    Listed("08a.5", "an assertion instead of the error", LOSS.format(
        test='assert target.shape[1] > 1, f"{target.shape[1]} tokens"', scores="    scores = model(source, given)"),
        says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("08a.6", "an assertion instead of the error", SMOOTH.format(test='assert 0 <= eps < 1, f"eps = {eps}"'),
           says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("08a.6", "eps at least 0 and below 1, without the number", SMOOTH.format(test="""if not 0 <= eps < 1:
        raise ValueError("eps must be at least 0 and below 1")""")),
    Listed("08a.6", "a tenth whatever eps is", SMOOTH.format(test="""if not 0 <= eps < 1:
        raise ValueError(f"eps = {eps}")
    eps = 0.1"""), says=("Eps argument ignored",)),
    Listed("08a.7", "steps must be above 0, without the number", RATE.format(
        error='ValueError("steps must be above 0")', width="d_model")),
    Listed("08a.7", "another kind of error", RATE.format(error='RuntimeError(f"step {int(step.min())}")', width="d_model"),
           says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("08a.7", "width written out", RATE.format(error='ValueError(f"step {int(step.min())}")', width="512"),
           says=("Width written out",)),
)
