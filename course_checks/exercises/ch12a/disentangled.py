"""Exercise 12a.3: DeBERTa's scores. The oracle looks up every pair of tokens by itself, in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(query: Tensor, key: Tensor, far_query: Tensor, far_key: Tensor, largest: int) -> Tensor:
    q, k, far_q, far_k = (x.double() for x in (query, key, far_query, far_key))
    n, d = q.shape[1:]

    def row(a: int, b: int) -> int:
        return 0 if a - b <= -largest else 2 * largest - 1 if a - b >= largest else a - b + largest

    there, back = (far[torch.tensor([[row(*pair[::way]) for pair in ((i, j) for j in range(n))] for i in range(n)])]
                   for far, way in ((far_k, 1), (far_q, -1)))  # (i, j, d): the vectors of both distances, pair by pair
    scores = [torch.einsum("bid,bjd->bij", q, k), torch.einsum("bid,ijd->bij", q, there), torch.einsum("bjd,ijd->bij", k, back)]
    return (sum(scores) / math.sqrt(3 * d)).float()


def _scores(query: Tensor, key: Tensor, far_query: Tensor, far_key: Tensor, largest: int, how: str = "right") -> Tensor:
    n, d = query.shape[1:]
    place = torch.arange(n)
    distance = place[:, None] - place  # i - j
    if how == "both distances turned":
        distance = -distance
    if how == "no sign":
        distance = distance.abs()

    def rows(distance: Tensor) -> Tensor:
        shifted = distance + largest
        match how:
            case "not shifted":
                return distance.clamp(-largest, largest - 1) % (2 * largest)
            case "wrapped":
                return shifted % (2 * largest)
            case "clipped from 1":
                return shifted.clamp(1, 2 * largest - 1)
            case "clipped early":
                return distance.clamp(-largest + 1, largest - 1) + largest - 1
            case "by place":
                return place[:, None].expand(n, n).clamp(max=2 * largest - 1)
        return shifted.clamp(0, 2 * largest - 1)

    index = rows(distance)
    if how == "tables exchanged":
        far_query, far_key = far_key, far_query
    if how == "first text":
        query, key = query[:1].expand_as(query), key[:1].expand_as(key)
    content = query @ key.mT
    to_place = (query[:, :, None] * far_key[index]).sum(-1)  # q_i · far_key[i - j]
    back = index if how in ("as released", "no sign") else rows(-distance)
    if how == "second from the key":
        to_place = (query[:, :, None] * far_key[back]).sum(-1)
    from_place = (key[:, None] * far_query[back]).sum(-1)  # k_j · far_query[j - i]
    match how:
        case "key of the query's place":
            from_place = (key[:, :, None] * far_query[back]).sum(-1)
        case "query of the key's place":
            from_place = (query[:, None] * far_query[back]).sum(-1)
        case "query twice":
            from_place = (query[:, :, None] * far_query[back]).sum(-1)
        case "third term transposed":
            from_place = from_place.mT
        case "second term transposed":
            to_place = to_place.mT
        case "no second":
            to_place = torch.zeros_like(content)
        case "no third":
            from_place = torch.zeros_like(content)
        case "no first":
            content = torch.zeros_like(content)
        case "fourth":
            from_place = from_place + (far_query[index] * far_key[index]).sum(-1)
        case "subtracted":
            from_place = -from_place
        case "contents exchanged":
            to_place = (key[:, None] * far_key[index]).sum(-1)
            from_place = (query[:, :, None] * far_query[back]).sum(-1)
        case "content alone scaled":
            return content / math.sqrt(3 * d) + to_place + from_place
        case "first term alone scaled":
            return content / math.sqrt(d) + to_place + from_place
        case "transposed":
            content, to_place, from_place = content.mT, to_place.mT, from_place.mT
    width = {"one term": d, "two terms": 2 * d, "three outside": 9 * d, "none": 1, "no root": 9 * d * d}.get(how, 3 * d)
    scores = (content + to_place + from_place) / math.sqrt(width)
    return scores.softmax(-1) if how == "softmax" else scores


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, batch: int, n: int, d: int, largest: int) -> Case:
        query, key = (torch.randn(batch, n, d, generator=g) for _ in range(2))
        far_query, far_key = (torch.randn(2 * largest, d, generator=g) for _ in range(2))
        return Case(f"{n} tokens, distances up to {largest}", {"query": query, "key": key, "far_query": far_query, "far_key": far_key,
                                                              "largest": largest}, part=part,
                    gradients=("query", "key", "far_query", "far_key"), shape="(batch, n, n)")

    return [case("near", 2, 4, 5, 6), case("near", 3, 5, 6, 8), case("far", 2, 7, 3, 2), case("far", 4, 6, 5, 3)]


SCORES = Exercise(
    id="12a.3", title="Content and distance", name="disentangled", kind="function", stars=3, minutes=20,
    signature="disentangled(query, key, far_query, far_key, largest) -> (batch, n, n)", oracle=_oracle, reference=_scores, draw=_draw,
    parts={"near": 3, "far": 2},
    forbidden=("course_utils.models.zoo.deberta.distance_index",),
    fixed=lambda: [Case("a single token", {"query": torch.tensor([[[1.0, 2.0]]]), "key": torch.tensor([[[0.5, -1.0]]]),
                                           "far_query": torch.tensor([[3.0, 0.0], [0.0, 1.0]]),
                                           "far_key": torch.tensor([[0.0, 5.0], [1.0, 1.0]]), "largest": 1}, part="far",
                        gradients=("query", "key"), shape="(batch, n, n)")],
    twins=(
        Twin("content alone divided", partial(_scores, how="content alone scaled"),
             "You divide the content term alone. The root divides the sum of all three."),
        Twin("third distance as in the released code", partial(_scores, how="as released"),
             "In the third term you look up the distance from i to j. There the key asks about the query, so the distance is seen from j. "
             "(The authors' code has it your way; the paper's formula does not.)"),
        Twin("both distances turned round", partial(_scores, how="both distances turned"),
             "Your distances have the wrong sign: it is the query's position less the key's."),
        Twin("distance without sign", partial(_scores, how="no sign"), "Your distances have no sign: 3 to the left equals 3 to the right."),
        Twin("first text for all", partial(_scores, how="first text"),
             "Every text of the batch gets the scores of the first one. Keep the batch axis in each of the three terms."),
        Twin("rows not shifted", partial(_scores, how="not shifted"),
             "Row 0 of a table belongs to the most negative distance; in yours it belongs to distance 0."),
        Twin("far distances wrapped", partial(_scores, how="wrapped"),
             "Distances beyond the table come in again at its other end. They should share the row at their own end."),
        Twin("row 0 never used", partial(_scores, how="clipped from 1"),
             "You clip one too early on the negative side: the first row of the tables is never read."),
        Twin("last row never used", partial(_scores, how="clipped early"),
             "Your rows are shifted by one less than the largest distance; the last row of the tables is never read."),
        Twin("absolute positions", partial(_scores, how="by place"), "You look rows up by position, not by the distance of two positions."),
        Twin("tables exchanged", partial(_scores, how="tables exchanged"),
             "You multiply queries with queries and keys with keys. A query needs the key of a distance, a key the query of one."),
        Twin("third term asks the query's content", partial(_scores, how="key of the query's place"),
             "The third term uses the content of the key's token. Yours takes the token at the query's position."),
        Twin("query of the key's token", partial(_scores, how="query of the key's place"),
             "Your third term looks at the right token and takes its query. It is the token's key that is multiplied with a query of "
             "the distance."),
        Twin("query in both terms", partial(_scores, how="query twice"),
             "Both of your distance terms use the query's content. The third term needs the key's content."),
        Twin("third term transposed", partial(_scores, how="third term transposed"),
             "Your third term is transposed: entry i, j holds what belongs to j, i."),
        Twin("second term transposed", partial(_scores, how="second term transposed"),
             "Your second term is transposed: entry i, j holds what belongs to j, i."),
        Twin("all transposed", partial(_scores, how="transposed"), "Rows are queries, columns are keys; yours are the other way round."),
        Twin("second distance seen from the key", partial(_scores, how="second from the key"),
             "The second term asks where the key is, seen from the query: i - j, not j - i. The third term is right."),
        Twin("contents exchanged", partial(_scores, how="contents exchanged"),
             "The second term is the query's content, the third the key's. You exchanged the two."),
        Twin("first term alone scaled", partial(_scores, how="first term alone scaled"),
             "You divide only the first product. Divide all three by the same root."),
        Twin("content to distance missing", partial(_scores, how="no second"),
             "The term of the query's content and the distance is missing."),
        Twin("distance to content missing", partial(_scores, how="no third"), "The term of the key's content and the distance is missing."),
        Twin("content to content missing", partial(_scores, how="no first"), "The ordinary product of query and key is missing."),
        Twin("distance to distance added", partial(_scores, how="fourth"),
             "You added a fourth product, of two distances. It is the same in every text; the paper leaves it out."),
        Twin("third term subtracted", partial(_scores, how="subtracted"),
             "The third term has the wrong sign; all three products are added."),
        Twin("scaled for one term", partial(_scores, how="one term"), "You add three products, but your scale is right for only one."),
        Twin("scaled for two terms", partial(_scores, how="two terms"), "You add three products, but your scale is right for only two."),
        Twin("three outside the root", partial(_scores, how="three outside"),
             "Variances add up, so the number of terms belongs under the root."),
        Twin("not scaled", partial(_scores, how="none"), "The sum of the three products is not scaled by anything."),
        Twin("no root", partial(_scores, how="no root"), "You divide by the number itself instead of its root."),
        Twin("softmax taken", partial(_scores, how="softmax"), "Scores are asked for; you went on to the weights."),
    ),
)
