"""Ablations of chapter 12b, XLNet."""

from .ablation import Ablation

IN_TURN = '__import__("course_utils.experiments.ch12b_orders", fromlist=["x"]).in_turn'
ABLATIONS = [
    Ablation(
        "Two hidden words guessed at once cost what the best product costs.",
        "both words of a city hidden one after the other",
        'assert abs(found["BERT"]["no city"] - found["best product"]["no city"]) < 0.06',
        "guess = at_once(bert, ids)",
        f"guess = {IN_TURN}(bert, ids)",
    ),
    Ablation(
        "No product is better than that of the true marginals.",
        "one marginal replaced by equal shares",
        "assert floor < least < floor + 0.01",
        "q, r = winter.sum(1), winter.sum(0)",
        "q, r = winter.sum(1) * 0 + 1 / len(winter), winter.sum(0)",
    ),
    Ablation(
        "A model gives a sentence another probability in another order.",
        "an order that is always left to right",
        "assert one.max() - one.min() > 0.05",
        "orders = torch.tensor(order).expand(len(sentences), -1)",
        "orders = torch.arange(4).expand(len(sentences), -1)",
    ),
    Ablation(
        "Over all orders a word is predicted from every set of other words.",
        "all orders but those that begin with the word itself",
        "assert len(counts) == 8",
        "orders = sorted(permutations(range(4)), key=what_comes_before)",
        "orders = [z for z in sorted(permutations(range(4)), key=what_comes_before) if z[0] != 2]",
    ),
    Ablation(
        "A mask is as good as moving words with their positions.",
        "words are moved without their positions",
        "torch.testing.assert_close(masked[:, z6], x, rtol=1e-4, atol=1e-5)",
        "x = model.embed(ids6, model.token(ids6))[:, z6]",
        "x = model.embed(ids6[:, z6], model.token(ids6[:, z6]))",
    ),
    Ablation(
        "A state that knows the place can predict both words.",
        "the place not told",
        "assert abs(without - math.log(2)) < 0.02 and with_it < 0.1",
        "state = g[0, z[2]] if with_place else h[0, 2]",
        "state = h[0, 2]",
    ),
    Ablation(
        "The query stream knows the earlier words, because it reads the content stream.",
        "keys and values from the query stream",
        'assert [" ".join(row) for row in verdict.values()] == [',
        "        h, g = block.streams(h, g, content, query)",
        "        h, g = block(h, content), block(g, query)",
    ),
    Ablation(
        "The query stream does not know its own word.",
        "the query's diagonal opened",
        'assert torch.equal(moved["g"] > 0, query)',
        "model.look(changed, content, query)",
        "model.look(changed, content, content)",
    ),
    Ablation(
        "XLNet's second word knows the first.",
        "XLNet's two words guessed at once",
        'assert found["XLNet, first word first"]["no city"] < 0.06',
        "one, other = in_turn(xlnet, ids, FIRST), in_turn(xlnet, ids, SECOND)",
        "one = other = at_once(xlnet, ids)",
    ),
    Ablation(
        "Neighbouring pieces of real text depend on each other.",
        "two gaps far apart instead of neighbours",
        "assert near > 0.3 and near > 5 * abs(far)",
        "        b = a + distance\n",
        "        b = torch.where(a > 8, a - 7, a + 5)\n",
    ),
    Ablation(
        "Fewer words in a turn, fewer invented cities.",
        "all turns in one",
        "assert abs(found - wanted) < 0.08",
        "ids = torch.where(when == turn, words",
        "ids = torch.where(ids == MASK, words",
    ),
    Ablation(
        "Divided by t, the loss is what a sentence costs along all orders.",
        "not divided by t",
        "assert abs(bound - other) < 0.15",
        "return ((nats * hidden).sum(1) / t).mean()",
        "return (nats * hidden).sum(1).mean()",
    ),
    Ablation(
        "The memory of the segment before helps, because of what it holds.",
        "a memory of zeros",
        'assert own < first["distances, no memory; is given none"] - 0.2',
        "kept.append(x.detach())",
        "kept.append(torch.zeros_like(x))",
    ),
    Ablation(
        "Cities are invented where both gaps of a city have the same turn.",
        "both gaps may have the same turn",
        "assert max(split) < 0.08",
        "split = [max(faults(write(expects(writer), n, apart=True))[0]",
        "split = [max(faults(write(expects(writer), n))[0]",
    ),
]
