"""All generic techniques, with what is expected of them."""

from functools import lru_cache

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.reading import Unsure, reading
from operators.catalog.generic.blocks import block_sizes, swapped_axes
from operators.catalog.generic.compositions import (
    one_thread_with_lanes,
    register_tiles,
    wide_accesses,
)
from operators.catalog.generic.dims import specialised_dims
from operators.catalog.generic.edit import Edit, GenericTechnique
from operators.catalog.generic.interchange import interchanged_loops
from operators.catalog.generic.jam import outputs_a_thread, outputs_apart
from operators.catalog.generic.lanes import independent_accumulators
from operators.catalog.generic.parts import parts_of_reductions
from operators.catalog.generic.read_only import read_only_loads
from operators.catalog.generic.rows import block_a_row
from operators.catalog.generic.strides import own_runs, register_sums
from operators.catalog.generic.tiles import staged_operands
from operators.catalog.generic.words import (
    fast_math,
    launch_bounds,
    reciprocals,
    restrict,
    unrolled_by_the_compiler,
    unrolling,
)

GENERIC: tuple[GenericTechnique, ...] = (
    GenericTechnique(
        name="neighbouring outputs a thread",
        find=outputs_a_thread,
        avenue="Let each thread compute a run of neighbouring outputs, so that what they all read "
        "is read once and neighbours become a vector.",
        rubric="Give a thread several values of one of its indices; put the loops over them "
        "innermost, and keep an accumulator for each in a register.",
        cpu=(0, 400),
        gpu=(-30, 100),
        innovation=70,
    ),
    GenericTechnique(
        name="register tiles",
        find=register_tiles,
        avenue="Let each thread compute a tile of outputs, so that every element read serves "
        "several of them.",
        rubric="Give a thread several values of two of its indices; put the loops over them "
        "innermost.",
        cpu=(0, 900),
        gpu=(-50, 200),
        innovation=75,
    ),
    GenericTechnique(
        name="one thread a block",
        find=one_thread_with_lanes,
        avenue="Let one thread do a block's work in order, with independent accumulators in the "
        "place of trees over threads.",
        rubric="Make blocks one thread wide, and give reduction loops LANES accumulators.",
        cpu=(0, 200),
        gpu=None,
        innovation=65,
    ),
    GenericTechnique(
        name="a block a row",
        find=block_a_row,
        avenue="Let a block share the loops that one thread went through, so that neighbouring "
        "threads read neighbouring elements.",
        rubric="Make a thread's index its block's, let loops stride by the block, and join "
        "what they reduce by trees in LDS.",
        cpu=None,
        gpu=(50, 800),
        innovation=80,
    ),
    GenericTechnique(
        name="parts of a reduction",
        find=parts_of_reductions,
        avenue="Cut each thread's long loop into parts that more blocks do at the same time.",
        rubric="A first launch reduces PARTS parts of each loop into scratch; a second one joins "
        "them and goes on as before.",
        cpu=None,
        gpu=(-40, 300),
        innovation=65,
    ),
    GenericTechnique(
        name="operands in LDS",
        find=staged_operands,
        avenue="Read each operand of a product once a block, and share it through LDS.",
        rubric="Cut the loop into tiles of the block's width; let the block load both operands' "
        "tiles, wait, and multiply from LDS.",
        cpu=None,
        gpu=(20, 300),
        innovation=75,
    ),
    GenericTechnique(
        name="outputs a block apart",
        find=outputs_apart,
        avenue="Let each thread compute several outputs, a block's width apart, so that "
        "neighbouring threads still read neighbouring addresses.",
        rubric="Give a thread several values of one of its indices, a block's width apart; put "
        "the loops over them innermost.",
        cpu=(-20, 60),
        gpu=(0, 150),
        innovation=60,
    ),
    GenericTechnique(
        name="independent accumulators",
        find=independent_accumulators,
        avenue="Break chains of dependent additions into independent lanes.",
        rubric="Give a reduction loop LANES accumulators, and join them after it.",
        cpu=(0, 300),
        gpu=(0, 60),
        innovation=60,
    ),
    GenericTechnique(
        name="block size",
        find=block_sizes,
        avenue="Choose how many threads a block has.",
        rubric="Make the block's width a parameter, wherever launches and code tell it.",
        cpu=(-20, 60),
        gpu=(-20, 40),
        innovation=40,
    ),
    GenericTechnique(
        name="axes swapped",
        find=swapped_axes,
        avenue="Let neighbouring threads go down another axis of the problem.",
        rubric="Swap the roles of x and y in indices, grid and block.",
        cpu=(-50, 150),
        gpu=(-60, 200),
        innovation=50,
    ),
    GenericTechnique(
        name="dims compiled in",
        find=specialised_dims,
        avenue="Compile for each shape, so that loops have a known number of rounds.",
        rubric="Make the dims that bound loops or divide indices macros.",
        cpu=(0, 60),
        gpu=(0, 40),
        innovation=45,
    ),
    GenericTechnique(
        name="a run a thread",
        find=own_runs,
        avenue="Let each thread go through a run of its own, in order.",
        rubric="Cut what threads stride through together into equal runs, one a thread.",
        cpu=(-30, 200),
        gpu=(-80, 0),
        innovation=50,
    ),
    GenericTechnique(
        name="sums in registers",
        find=register_sums,
        avenue="Add up in a register what is added to one place of memory again and again.",
        rubric="Load the place before the loop, and store it after.",
        cpu=(0, 150),
        gpu=(0, 150),
        innovation=45,
    ),
    GenericTechnique(
        name="restrict",
        find=restrict,
        avenue="Tell the compiler that buffers do not overlap.",
        rubric="Add __restrict__ to all pointers of the kernels.",
        cpu=(0, 30),
        gpu=(0, 30),
        innovation=20,
    ),
    GenericTechnique(
        name="loops interchanged",
        find=interchanged_loops,
        avenue="Go through two loops in the other order, as memory lies or as values are reused.",
        rubric="Let two loops, one right inside of the other, change places.",
        cpu=(-50, 150),
        gpu=(-40, 60),
        innovation=40,
    ),
    GenericTechnique(
        name="wide loads and stores",
        find=wide_accesses,
        avenue="Read and write several neighbouring elements at once.",
        rubric="Cut a loop into rounds of WIDTH elements, read and written as one vector where "
        "addresses are aligned; do the rest one by one.",
        cpu=(-70, 80),
        gpu=(-5, 80),
        innovation=50,
    ),
    GenericTechnique(
        name="read-only loads",
        find=read_only_loads,
        avenue="Read what no thread writes through the read-only path.",
        rubric="Make pointers that are only read const and __restrict__, and load by __ldg.",
        cpu=None,
        gpu=(-5, 30),
        innovation=20,
    ),
    GenericTechnique(
        name="reciprocals",
        find=reciprocals,
        avenue="Divide once, and multiply in the loop.",
        rubric="Replace divisions in loops by a product with the reciprocal.",
        cpu=(0, 40),
        gpu=(0, 20),
        innovation=20,
    ),
    GenericTechnique(
        name="fast math",
        find=fast_math,
        avenue="Let the compiler reorder sums and use approximate operations.",
        rubric="Add -ffast-math to the options.",
        cpu=(0, 200),
        gpu=(0, 25),
        innovation=35,
    ),
    GenericTechnique(
        name="loops unrolled by the compiler",
        find=unrolled_by_the_compiler,
        avenue="Let the compiler unroll loops.",
        rubric="Add -funroll-loops to the options.",
        cpu=(-10, 25),
        gpu=None,
        innovation=10,
    ),
    GenericTechnique(
        name="unrolling",
        find=unrolling,
        avenue="Unroll innermost loops, so that more loads are in flight.",
        rubric="Put #pragma unroll with a parameter before innermost loops.",
        cpu=None,
        gpu=(-5, 40),
        innovation=30,
    ),
    GenericTechnique(
        name="launch bounds",
        find=launch_bounds,
        avenue="Tell the compiler how many threads a block has, so that it may use more registers.",
        rubric="Add __launch_bounds__ with the block's size to the kernels.",
        cpu=None,
        gpu=(-5, 20),
        innovation=15,
    ),
)

BY_NAME = {one.name: one for one in GENERIC}


def edits(technique: GenericTechnique, text: str, task: Task) -> tuple[Edit, ...]:
    """All that a technique may make of a kernel file; none where it can't be read."""
    return _edits(technique.name, text, _Hashed(task))


def edits_of(text: str, task: Task) -> int:
    """How many there are of a kernel, on one device or another."""
    return sum(len(edits(one, text, task)) for one in GENERIC)


class _Hashed:
    """A task that caches know by its hash."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __hash__(self) -> int:
        return hash(self.task.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and other.task.hash == self.task.hash


@lru_cache(maxsize=1024)
def _edits(name: str, text: str, task: _Hashed) -> tuple[Edit, ...]:
    read = reading(text)
    if read is None:
        return ()
    try:
        return tuple(BY_NAME[name].find(read, task.task))
    except Unsure:
        return ()
