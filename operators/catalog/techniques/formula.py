"""Techniques of the kernels that are written from a formula: rows, single elements, products."""

from collections.abc import Iterator

from operators.catalog.technique import Range, Technique

ROWS = frozenset({"rows"})
ELEMENTS = frozenset({"elements"})
TILE = frozenset({"product_tile"})
PRODUCT_LDS = frozenset({"product_lds"})
SCAN = frozenset({"scan"})
PERMUTE = frozenset({"permute"})
PRODUCTS = TILE | PRODUCT_LDS


def _both_ways(
    name: str, sources: frozenset[str], parameter: str, what: str, *, cpu: Range, gpu: Range
) -> Iterator[Technique]:
    """One place up and one down in a parameter's space."""
    for places, word in ((1, "more"), (-1, "less")):
        yield Technique(
            name=f"{word} {name}",
            sources=sources,
            steps={parameter: places},
            avenue=f"{what}: {word}.",
            rubric=f"Take the next {'larger' if places > 0 else 'smaller'} {parameter}.",
            cpu=cpu,
            gpu=gpu,
            innovation=15,
        )


def _switch(
    name: str, sources: frozenset[str], parameter: str, avenue: str, *, cpu: Range, gpu: Range
) -> Iterator[Technique]:
    """A parameter that is on or off."""
    for value in (1, 0):
        yield Technique(
            name=name if value else f"no {name}",
            sources=sources,
            sets={parameter: value},
            avenue=avenue if value else f"Do without: {avenue[0].lower()}{avenue[1:]}",
            rubric=f"Set {parameter} to {value}; keep the rest.",
            cpu=cpu if value else (-30, 20),
            gpu=gpu if value else (-30, 20),
            innovation=25 if value else 10,
        )


FORMULA = (
    Technique(
        name="threads of a row",
        sources=ROWS,
        free=("THREADS", "BLOCK_ROWS"),
        avenue="Choose anew how many threads share a row, and how many rows a block has.",
        rubric="Few threads for short rows, whole wavefronts for long ones.",
        cpu=(-40, 200),
        gpu=(-40, 100),
        innovation=45,
    ),
    Technique(
        name="a row for each thread",
        sources=ROWS,
        sets={"THREADS": 1, "BLOCK_ROWS": 8, "KEEP": 0, "SHUFFLE": 0},
        avenue="One thread a row: nothing to join, no barriers.",
        rubric="A thread walks along its row alone, in wide steps.",
        cpu=(0, 300),
        gpu=(-80, 20),
        innovation=40,
    ),
    *_both_ways(
        "lanes", ROWS, "LANES", "Neighbouring elements a step", cpu=(-10, 60), gpu=(-10, 30)
    ),
    Technique(
        name="row in registers",
        sources=ROWS,
        free=("KEEP", "THREADS"),
        avenue="Read each element once, and keep it in a register until it is used again.",
        rubric="Choose KEEP and THREADS so that KEEP steps are about a row.",
        cpu=(-40, 20),
        gpu=(0, 60),
        innovation=55,
    ),
    *_switch(
        "shuffles",
        ROWS,
        "SHUFFLE",
        "Join the threads of a wavefront by shuffles instead of through LDS.",
        cpu=(-30, 20),
        gpu=(0, 30),
    ),
    *_switch(
        "vector accesses",
        ROWS | ELEMENTS,
        "VEC",
        "Read and write neighbouring elements at once where rows are aligned.",
        cpu=(-10, 20),
        gpu=(5, 60),
    ),
    *_switch(
        "reciprocal of a row",
        ROWS | ELEMENTS,
        "RECIPROCAL",
        "Divide once a row instead of once an element.",
        cpu=(0, 20),
        gpu=(0, 10),
    ),
    Technique(
        name="elements of a thread",
        sources=ELEMENTS,
        free=("LANES", "STEPS"),
        avenue="Choose anew how many elements a thread computes.",
        rubric="Neighbouring ones first, then more steps.",
        cpu=(-30, 60),
        gpu=(-30, 60),
        innovation=35,
    ),
    *_both_ways(
        "threads a block", ELEMENTS, "BLOCK", "Threads a block", cpu=(-20, 30), gpu=(-10, 15)
    ),
    Technique(
        name="tile of outputs",
        sources=PRODUCTS,
        free=("TM", "TN"),
        avenue="Choose anew the tile of outputs that a thread keeps in registers.",
        rubric="As large as registers allow: each value that is read serves a whole row of it.",
        cpu=(-40, 150),
        gpu=(-40, 100),
        innovation=50,
    ),
    Technique(
        name="shape of a block",
        sources=PRODUCTS,
        free=("BX", "BY"),
        avenue="Choose anew the threads of a block, along columns and rows.",
        rubric="Change BX and BY only.",
        cpu=(-30, 40),
        gpu=(-30, 40),
        innovation=20,
    ),
    *_switch(
        "packed panels",
        TILE,
        "PACK",
        "Copy what belongs to columns to panels first, so that steps read on.",
        cpu=(0, 300),
        gpu=(-30, 60),
    ),
    *_both_ways("steps at once", TILE, "KU", "Unrolled steps", cpu=(-15, 20), gpu=(-10, 20)),
    Technique(
        name="tiles through LDS",
        sources=TILE,
        target="product_lds",
        avenue="Feed the register tiles from LDS instead of from global memory.",
        rubric="The block loads its parts of both sides into LDS, then multiplies.",
        cpu=(-60, 100),
        gpu=(50, 300),
        innovation=75,
    ),
    Technique(
        name="tiles without LDS",
        sources=PRODUCT_LDS,
        target="product_tile",
        avenue="Leave it to the caches: no LDS, no barriers.",
        rubric="Keep the tile of outputs, and read both sides directly.",
        cpu=(-40, 100),
        gpu=(-60, 0),
        innovation=30,
    ),
    *_both_ways(
        "steps in LDS", PRODUCT_LDS, "BK", "Steps between barriers", cpu=(-15, 30), gpu=(-15, 30)
    ),
    *_both_ways("padding", PRODUCT_LDS, "PAD", "Padding of a tile", cpu=(-5, 10), gpu=(-10, 20)),
    Technique(
        name="tiles loaded ahead",
        sources=PRODUCT_LDS,
        sets={"STAGES": 2},
        avenue="Load the next tiles while the present ones are multiplied.",
        rubric="Two sets of tiles in LDS; one barrier a step instead of two.",
        cpu=(-10, 15),
        gpu=(0, 40),
        innovation=60,
    ),
    Technique(
        name="parts of a row",
        sources=SCAN,
        free=("PARTS",),
        avenue="Choose anew in how many parts a row is scanned at the same time.",
        rubric="Add up the parts first, then scan each from what lies before it.",
        cpu=(-40, 100),
        gpu=(-40, 300),
        innovation=60,
    ),
    Technique(
        name="elements a step of a scan",
        sources=SCAN,
        free=("THREADS", "ITEMS"),
        avenue="Choose anew how many elements a block scans at once.",
        rubric="More elements a thread, so that fewer are joined between threads.",
        cpu=(-40, 150),
        gpu=(-30, 100),
        innovation=45,
    ),
    *_switch(
        "scan by shuffles",
        SCAN,
        "SHUFFLE",
        "Scan a wavefront by shuffles instead of through LDS.",
        cpu=(-30, 20),
        gpu=(0, 40),
    ),
    *_switch(
        "interleaved columns",
        PRODUCT_LDS,
        "INTERLEAVE",
        "Neighbouring threads own neighbouring columns.",
        cpu=(-30, 20),
        gpu=(0, 40),
    ),
    Technique(
        name="shape of a turned tile",
        sources=PERMUTE,
        free=("TD", "TA"),
        avenue="Choose anew how much of the inputs' and of the outputs' rows a block turns.",
        rubric="Long along an axis that is long, short along one that is short.",
        cpu=(-40, 80),
        gpu=(-30, 60),
        innovation=45,
    ),
    Technique(
        name="large tiles of neighbours",
        sources=PERMUTE,
        sets={"TD": 64, "TA": 64, "WIDE": 4, "PAD": 0},
        avenue="Turn large tiles, four neighbours at once on either side.",
        rubric="Tiles of 64 x 64 without padding, read and written as vectors.",
        cpu=(50, 500),
        gpu=(-30, 60),
        innovation=60,
    ),
    *_both_ways(
        "neighbours at once",
        PERMUTE,
        "WIDE",
        "Neighbours that a thread reads and writes at once where rows are aligned",
        cpu=(-20, 100),
        gpu=(-10, 50),
    ),
    *_both_ways(
        "threads a tile", PERMUTE, "THREADS", "Threads a tile", cpu=(-20, 20), gpu=(-20, 25)
    ),
    *_both_ways(
        "padding of a turned tile",
        PERMUTE,
        "PAD",
        "Elements added to each row of a tile",
        cpu=(-5, 10),
        gpu=(-20, 20),
    ),
    *_switch(
        "blocks along the inputs' rows",
        PERMUTE,
        "SWAP",
        "Let neighbouring blocks follow the inputs' rows instead of the outputs'.",
        cpu=(-20, 30),
        gpu=(-20, 20),
    ),
    Technique(
        name="turned without LDS",
        sources=PERMUTE,
        target="elements",
        avenue="Leave it to the caches: no LDS, no barriers.",
        rubric="Write along the outputs' rows, and read the inputs wherever they lie.",
        cpu=(-30, 30),
        gpu=(-70, 0),
        innovation=25,
    ),
    Technique(
        name="turned in LDS",
        sources=ELEMENTS,
        target="permute",
        avenue="Turn tiles in LDS, so that inputs are read along their own rows.",
        rubric="A block reads a tile along the inputs' rows and writes it along the outputs'.",
        cpu=(-80, 50),
        gpu=(50, 400),
        innovation=75,
    ),
)
