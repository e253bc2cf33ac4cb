"""Span: one buffer in a region, and how an array of a task lies in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.dtypes import is_floating
from evaluators.expression import Env
from evaluators.tasks.arguments import Argument, extent

Array = np.ndarray[Any, Any]
Image = np.ndarray[Any, np.dtype[np.uint8]]

SCRATCH_POISON = 0xFF


def poison_byte(dtype: np.dtype[Any]) -> int:
    """A byte that makes NaNs of a float type when repeated; for others a rare value."""
    if not is_floating(dtype):
        return 0xA5
    return 0x80 if dtype.name.endswith("fnuz") else 0xFF  # float8 fnuz has the one NaN 0x80


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a span is made for. steps: strides in elements, of an array that is not dense."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    written: bool
    given: bool  # filled with an input before a run, else with poison
    poison: int
    steps: tuple[int, ...] | None = None

    @classmethod
    def of(cls, argument: Argument, env: Env) -> "Part":
        """Of a task's argument; what is written as a bool may be any byte, and is looked at as
        such."""
        dtype = argument.np_dtype
        return cls(
            name=argument.name,
            dtype=np.dtype(np.uint8) if dtype == np.bool_ else dtype,
            shape=argument.shape(env),
            written=argument.written,
            given=argument.role != "out",
            poison=poison_byte(dtype),
            steps=argument.steps(env),
        )

    @classmethod
    def of_scratch(cls, name: str, nbytes: int) -> "Part":
        return cls(
            name=name,
            dtype=np.dtype(np.uint8),
            shape=(nbytes,),
            written=True,
            given=False,
            poison=SCRATCH_POISON,
        )

    @property
    def nbytes(self) -> int:
        return extent(self.shape, self.steps) * self.dtype.itemsize


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part and where it begins in its region."""

    part: Part
    start: int

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def nbytes(self) -> int:
        return self.part.nbytes

    @property
    def stop(self) -> int:
        return self.start + self.nbytes

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.part.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.part.shape

    @property
    def written(self) -> bool:
        return self.part.written

    @property
    def given(self) -> bool:
        return self.part.given

    @property
    def poison(self) -> int:
        """The byte that it is filled with where nothing is given; it also lies between the elements
        of what is not dense."""
        return self.part.poison

    @property
    def dense(self) -> bool:
        return self.part.steps is None

    def laid(self, values: Array) -> Image:
        """An array's bytes as they lie in the buffer."""
        values = values.view(np.uint8) if values.dtype == np.bool_ else values
        if self.dense:
            made: Image = np.ascontiguousarray(values, dtype=self.dtype).reshape(-1).view(np.uint8)
            return made
        image = np.full(self.nbytes, self.poison, np.uint8)
        self.taken(image)[...] = values
        return image

    def taken(self, image: Image) -> Array:
        """The array in the buffer's bytes, as a view."""
        flat = image.view(self.dtype)
        steps = self.part.steps
        if steps is None:
            return flat.reshape(self.shape)
        strides = [step * self.dtype.itemsize for step in steps]
        view: Array = np.lib.stride_tricks.as_strided(flat, self.shape, strides)
        return view

    def places(self, flat: Array) -> Array:
        """Where in the buffer elements of these flat places of the array lie."""
        steps = self.part.steps
        if steps is None:
            return flat
        axes = np.unravel_index(flat, self.shape)
        found: Array = np.add.reduce([a * s for a, s in zip(axes, steps, strict=True)])
        return found

    def strays(self, image: Image) -> Array:
        """Elements of the buffer, by their places, that are no longer as laid() leaves what lies
        between the array's; in order."""
        if self.dense:
            return np.empty(0, np.int64)
        between = np.ones(self.nbytes // self.dtype.itemsize, np.bool_)
        strides = list(self.part.steps or ())
        np.lib.stride_tricks.as_strided(between, self.shape, strides)[...] = False
        raw = image.reshape(-1, self.dtype.itemsize)
        return np.flatnonzero(between & (raw != self.poison).any(axis=1))
