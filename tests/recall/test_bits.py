"""Sets as bits against sets as sets."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.recall.bits import greatest, positions, sums

SETS = st.sets(st.integers(0, 90), max_size=40)


def bits(members: set[int]) -> int:
    return sum(1 << one for one in members)


@settings(derandomize=True, max_examples=100)
@given(SETS)
def test_positions_are_the_members(members: set[int]) -> None:
    assert positions(bits(members)) == sorted(members)


@settings(derandomize=True, max_examples=150)
@given(st.lists(st.tuples(st.integers(1, 31), SETS), max_size=8), st.integers(1, 30))
def test_the_greatest_sums(terms: list[tuple[int, set[int]]], most: int) -> None:
    """Those that are sure are above all others, those that tie are equal, and together they are
    enough."""
    total = {one: sum(w for w, members in terms if one in members) for one in range(91)}
    planes = sums((weight, bits(members)) for weight, members in terms)
    read = {one: sum((plane >> one & 1) << p for p, plane in enumerate(planes)) for one in total}
    assert read == total
    found = [set(positions(part)) for part in greatest(planes, most)]
    sure, equal = found
    some = {one for one, value in total.items() if value}
    assert not sure & equal and sure | equal <= some and len(sure) <= most
    assert len(sure | equal) >= min(most, len(some))
    assert len({total[one] for one in equal}) <= 1
    rest = [total[one] for one in some - sure - equal]
    assert max(rest, default=0) < min([total[one] for one in sure | equal], default=1)
    assert not sure or not equal or min(total[s] for s in sure) > min(total[e] for e in equal)
