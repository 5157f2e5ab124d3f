"""Functions that adaptors connect."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.model.mining import Cluster, MinedPair


def clusters_of(pairs: Sequence[MinedPair]) -> tuple[Cluster, ...]:
    """Connected functions, the largest clusters first."""
    leader: dict[int, int] = {}

    def find(number: int) -> int:
        leader.setdefault(number, number)
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    found = [pair for pair in pairs if pair.verdict == "adaptor" and not pair.anything_fits]
    for pair in found:
        leader[find(pair.target)] = find(pair.rewrite)
    members: dict[int, list[int]] = {}
    for number in sorted(leader):
        members.setdefault(find(number), []).append(number)
    clusters = [
        Cluster(tuple(numbers), tuple(pair for pair in found if find(pair.target) == of))
        for of, numbers in members.items()
    ]
    return tuple(sorted(clusters, key=lambda cluster: (-len(cluster.functions), cluster.functions)))
