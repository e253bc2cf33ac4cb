"""What a launch passes: scalars of every type, attributes, null pointers, structs; WAVEFRONT,
dtypes in names and macros; files for some backends only."""

import ctypes
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluators.device_info import Target, target_of
from evaluators.dtypes import CPP, DTYPES, SCALARS
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.by_value import alignment, packed, places, pointers, size
from evaluators.kernel.plan import Given, LaunchStep, Null, Scalar, Struct
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.tasks.workload import Setting, Workload

CPU = target_of("cpu")


@pytest.fixture(scope="module")
def task() -> Task:
    sgemm = load_task("sgemm")
    bias = replace(sgemm.arguments[0], name="bias", optional=True)
    return replace(
        sgemm,
        arguments=(*sgemm.arguments, bias),
        attributes={"eps": 0.5, "causal": True, "k": -3},
        dtypes={"T": ("float32", "bfloat16")},
    )


def workload(*, dtype: str = "bfloat16", null: bool = True) -> Workload:
    setting = Setting(
        attributes={"eps": 0.5, "causal": True, "k": -3},
        dtypes={"T": dtype},
        nulls={"bias": null},
    )
    return Workload(dims={"M": 5, "N": 7, "K": 9}, suite="tests", setting=setting)


def step(
    task: Task, args: str, *, more: str = "", on: Workload | None = None, target: Target = CPU
) -> LaunchStep:
    text = f"""/*---
launches: [{{kernel: "f<T, causal, k, P>", grid: [1], block: ["WAVEFRONT"], args: [{args}]}}]
params: {{P: 4}}
{more}
---*/
"""
    plan = parse_kernel(text).plan(task, on or workload(), target)
    (found,) = plan.launches
    return found


@pytest.mark.parametrize(
    ("arg", "given"),
    [
        ("eps", Scalar(value=0.5, type="float32")),
        ("causal", Scalar(value=1, type="bool")),
        ("k", Scalar(value=-3, type="int32")),
        ("a", "a"),
        ("bias", Null()),
        ("null", Null()),
        ("{value: 'K / 2 + sqrt(M - 1)', type: float64}", Scalar(value=6.5, type="float64")),
        ("{value: 1.0e-30, type: float32}", Scalar(value=1e-30, type="float32")),
        ("{value: 1.5, type: T}", Scalar(value=1.5, type="bfloat16")),
        ("{value: 'eps * 3', type: float16}", Scalar(value=1.5, type="float16")),
        ("{value: 7, type: bool}", Scalar(value=1, type="bool")),
        ("{value: 'causal * 5 + sizeof(T)', type: uint8}", Scalar(value=7, type="uint8")),
        (f"{{value: {2**64 - 1}, type: uint64}}", Scalar(value=2**64 - 1, type="uint64")),
        (f"{{value: {-(2**63)}, type: int64}}", Scalar(value=-(2**63), type="int64")),
        (
            "{value: 'is_null(bias) + (T == bfloat16) * 2', type: int16}",
            Scalar(value=3, type="int16"),
        ),
        ("{value: 'WAVEFRONT * P', type: uint32}", Scalar(value=256, type="uint32")),
        (
            "{struct: [a, k, {struct: [null]}]}",
            Struct(fields=("a", Scalar(value=-3, type="int32"), Struct(fields=(Null(),)))),
        ),
        ("{struct: []}", Struct(fields=())),
    ],
)
def test_what_is_given(task: Task, arg: str, given: Given) -> None:
    assert step(task, arg).args == (given,)


@pytest.mark.parametrize(
    ("arg", "told"),
    [
        ("T", "T is a dtype: put it into the kernel's name, as in f<T>"),
        ("{value: 0.5, type: int32}", "0.5 is not an integer"),
        ("{value: 'M / 2', type: int64}", "operator Div is not allowed here: // divides integers"),
        ("{value: 'sqrt(M)', type: int64}", "function 'sqrt' is not one of"),
        ("{value: eps, type: int32}", "0.5 is not an integer, but must be, in 'eps'"),
        ("{value: 'eps / (M - 5)', type: float32}", "division by zero"),
        ("{value: '0 - M', type: uint32}", "0 - M is -5, must be 0 to 4294967295"),
        ("{value: 300, type: int8}", "300 is 300, must be -128 to 127"),
        ("{value: 1.0e+6, type: float16}", "1e+06 is beyond what float16 holds"),
        ("{value: 1, type: float}", "type 'float' is not one of float32, float16"),
        ("{value: 1, type: float8_e5m2}", "type 'float8_e5m2' is not one of"),
        ("{value: 1, type: U}", "type 'U' is not one of float32, float16, bfloat16"),
        ("{value: 'is_null(a)', type: bool}", "'a' is no optional argument of the task"),
        ("{value: 'T + 1', type: int32}", "T is a dtype and no number"),
        ("{structs: [a]}", "must be a name, null, {value: expression, type: int32} or {struct"),
        ("{struct: a}", "'struct' must be a list"),
        ("3", "argument 3 must be a name, null"),
    ],
)
def test_what_can_not_be_given_is_told(task: Task, arg: str, told: str) -> None:
    with pytest.raises(Rejected) as caught:
        step(task, arg)
    assert caught.value.status is Status.INVALID
    assert told in caught.value.reason and caught.value.reason.startswith("line 2: ")


def test_a_name_holds_types_truths_and_numbers(task: Task) -> None:
    assert step(task, "").entry == "f<__hip_bfloat16, true, -3, 4>"
    assert step(task, "", on=workload(dtype="float32")).entry == "f<float, true, -3, 4>"


def test_the_wavefront_is_the_devices(task: Task) -> None:
    assert step(task, "").block == (64, 1, 1)
    assert step(task, "", target=target_of("cuda")).block == (32, 1, 1)
    assert step(task, "", target=Target("cpu", 32)).block == (32, 1, 1)
    more = 'variants: [{when: "WAVEFRONT == 32", params: {P: 8}}]'
    assert step(task, "", more=more, target=target_of("cuda")).entry.endswith("8>")


def test_dtypes_and_attributes_may_be_macros(task: Task) -> None:
    text = "/*---\nlaunches: [{kernel: f, grid: [1], block: [1], args: []}]\n"
    kernel = parse_kernel(f"{text}specialize: [K, T, causal, k]\n---*/\n")
    plan = kernel.plan(task, workload(), CPU)
    assert plan.defines == (("K", 9), ("T", "__hip_bfloat16"), ("causal", "true"), ("k", -3))
    for name, told in (
        ("eps", "'eps' is no integer; pass it as an argument"),
        ("Q", "'Q' is not a dimension, attribute or dtype of task sgemm (M, N, K, eps, causal"),
    ):
        with pytest.raises(Rejected) as caught:
            parse_kernel(f"{text}specialize: [{name}]\n---*/\n").plan(task, workload(), CPU)
        assert told in caught.value.reason


@pytest.mark.parametrize("name", ["k", "T", "bias"])
def test_a_parameter_has_no_name_of_the_tasks(task: Task, name: str) -> None:
    text = (
        f"/*---\nlaunches: [{{kernel: f, grid: [1], block: [1], args: []}}]\nparams: {{{name}: 1}}"
    )
    with pytest.raises(Rejected, match=f"parameter '{name}' has the name of an? "):
        parse_kernel(f"{text}\n---*/\n").plan(task, workload(), CPU)


def test_nothing_is_filled_where_nothing_is(task: Task) -> None:
    out = replace(task.arguments[-1], role="out")
    task = replace(task, arguments=(*task.arguments[:-1], out))
    text = """/*---
launches:
  - {memset: {buffer: bias, byte: 0}, when: "WHEN"}
  - {kernel: f, grid: [1], block: [1], args: []}
---*/
"""
    kernel = parse_kernel(text.replace("WHEN", "1"))
    with pytest.raises(Rejected, match=r"give the step when: not is_null\(bias\)"):
        kernel.plan(task, workload(), CPU)
    kernel = parse_kernel(text.replace("WHEN", "not is_null(bias)"))
    assert len(kernel.plan(task, workload(), CPU).steps) == 1
    assert len(kernel.plan(task, workload(null=False), CPU).steps) == 2


def test_a_file_may_be_for_some_backends_only(task: Task) -> None:
    launches = "/*---\nlaunches: [{kernel: f, grid: [1], block: [1], args: []}]\n"
    text = f"{launches}backends: [hip, cuda]\n---*/\n"
    kernel = parse_kernel(text)
    assert kernel.plan(task, workload(), target_of("hip")).steps
    with pytest.raises(Rejected, match="line 3: the file is for hip and cuda only") as caught:
        kernel.plan(task, workload(), CPU)
    assert caught.value.status is Status.UNSUPPORTED
    assert kernel.id == parse_kernel(text.replace("backends: [hip, cuda]\n", "")).id
    with pytest.raises(Rejected, match="backends: 'vulkan' is not one of cpu, cuda, hip"):
        parse_kernel(text.replace("cuda", "vulkan"))
    with pytest.raises(Rejected, match="'backends' must be a list with at least one entry"):
        parse_kernel(text.replace("[hip, cuda]", "[]"))


C_TYPES: Mapping[str, type] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "uint16": ctypes.c_uint16,
    "int32": ctypes.c_int32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("count", range(1, 8))
def test_a_struct_is_laid_out_as_c_does(order: int, count: int) -> None:
    names = list(C_TYPES)[::order][:count]
    inner = type(
        "Inner", (ctypes.Structure,), {"_fields_": [("p", ctypes.c_void_p), ("c", ctypes.c_int8)]}
    )
    fields = [
        *((f"f{i}", C_TYPES[name]) for i, name in enumerate(names)),
        ("inner", inner),
        ("z", ctypes.c_int8),
    ]
    outer: Any = type("Outer", (ctypes.Structure,), {"_fields_": fields})
    values = [Scalar(value=i % 2, type=name) for i, name in enumerate(names)]
    ours = Struct(
        fields=(
            *values,
            Struct(fields=("x", Scalar(value=-1, type="int8"))),
            Scalar(value=3, type="int8"),
        )
    )
    assert (size(ours), alignment(ours)) == (ctypes.sizeof(outer), ctypes.alignment(outer))
    assert places(ours) == [getattr(outer, name).offset for name, _ in fields]
    found = outer.from_buffer_copy(packed(ours, lambda name: 0xABC000))
    assert [getattr(found, f"f{i}") for i in range(count)] == [i % 2 for i in range(count)]
    assert (found.inner.p, found.inner.c, found.z) == (0xABC000, -1, 3)
    assert pointers(ours) == [outer.inner.offset]


def test_an_empty_struct_has_one_byte_and_null_is_zero() -> None:
    assert (size(Struct(fields=())), alignment(Struct(fields=()))) == (1, 1)
    assert packed(Null(), lambda name: 5) == bytes(8) and pointers(Null()) == []
    assert packed("x", lambda name: 5) == struct.pack("<Q", 5) and pointers("x") == [0]


@pytest.mark.parametrize("type_", SCALARS)
def test_every_scalar_has_its_types_bytes(type_: str) -> None:
    data = packed(Scalar(value=1, type=type_), lambda name: 0)
    assert len(data) == DTYPES[type_].itemsize
    assert np.frombuffer(data, DTYPES[type_])[0] == 1
    assert type_ in CPP
