"""Whether times tell that a kernel keeps results of launches for later ones."""

from collections.abc import Sequence

MEMORY_APPLICATIONS = 4
MEMORY_PAIRS, ALIKE = 20, 3
REMEMBERS, ON_AVERAGE = 1.15, 1.25
"""What new data may cost more than known data in a pair of calls, and over all of them. 240 pairs
of 12 right kernels (sgemm, two cores, six busy processes) lay between 0.66 and 1.62, the median at
1.00, 15 beyond REMEMBERS; on the worst kernel one quarter."""


def no_memory(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether times on known and on new data clear a kernel: some pairs are alike, and so are
    the sums without the fifth of the pairs that speaks most against it."""
    alike = sum(new <= REMEMBERS * known for known, new in pairs)
    usual = sorted(pairs, key=lambda pair: pair[1] / pair[0])[: len(pairs) - len(pairs) // 5]
    known_us, new_us = (sum(times) for times in zip(*usual, strict=True))
    return alike >= ALIKE and new_us <= ON_AVERAGE * known_us
