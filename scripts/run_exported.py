"""An exported header built and run on this machine's GPU, beside what `evaluate` says.

    python -m scripts.run_exported KERNEL --task sgemm --backend cuda

Prints JSON: by shape the largest error of the header's outputs as a part of the tolerance, its
microseconds, and evaluate's. Needs nvcc, or hipcc with --backend hip.
"""

import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evaluators.checks.compare import compare
from evaluators.evaluate import evaluate_file
from evaluators.export.header import cpp_header, header_name
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import Array, Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

BUILD = {
    "cuda": ("nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-O3", "-arch=native", "-x", "cu"),
    "hip": ("hipcc", "-std=c++20", "-O3"),
}
ROUNDS = 20

MAIN = r"""
#define {upper}_IMPLEMENTATION
#include "{name}.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef KS_EXPORT_HIP
#define API(name) hip##name
typedef hipEvent_t Event;
#else
#define API(name) cuda##name
typedef cudaEvent_t Event;
#endif

static void must(int status, const char* what) {{
    if (status) {{ fprintf(stderr, "%s: status %d\n", what, status); exit(1); }}
}}

int main() {{
    {name}::Shape shape{{ {shape} }};
    std::vector<void*> buffers;
    const size_t sizes[] = {{ {sizes} }};
    const char* files[] = {{ {files} }};
    for (int i = 0; i < {count}; ++i) {{
        std::vector<char> bytes(sizes[i]);
        FILE* file = fopen(files[i], "rb");
        if (file) {{
            must(fread(bytes.data(), 1, sizes[i], file) != sizes[i], files[i]);
            fclose(file);
        }}
        void* buffer;
        must(API(Malloc)(&buffer, sizes[i]), "malloc");
        must(API(Memcpy)(buffer, bytes.data(), sizes[i], API(MemcpyHostToDevice)), "copy");
        buffers.push_back(buffer);
    }}
    {name}::Arguments arguments{{ {arguments} }};
    const long long nbytes = {name}::scratch_bytes(shape);
    void* scratch = nullptr;
    if (nbytes > 0) must(API(Malloc)(&scratch, (size_t)nbytes), "scratch");
    {prepare}
    must({name}::launch(arguments, shape, scratch, nullptr), "launch");
    must(API(DeviceSynchronize)(), "run");
    for (int i = 0; i < {count}; ++i) {{
        std::vector<char> bytes(sizes[i]);
        must(API(Memcpy)(bytes.data(), buffers[i], sizes[i], API(MemcpyDeviceToHost)), "copy");
        FILE* file = fopen((std::string(files[i]) + ".out").c_str(), "wb");
        fwrite(bytes.data(), 1, sizes[i], file);
        fclose(file);
    }}
    Event begin, end;
    must(API(EventCreate)(&begin), "event");
    must(API(EventCreate)(&end), "event");
    std::vector<float> times;
    for (int round = 0; round < {rounds}; ++round) {{
        must(API(EventRecord)(begin, nullptr), "record");
        for (int i = 0; i < 10; ++i) {name}::launch(arguments, shape, scratch, nullptr);
        must(API(EventRecord)(end, nullptr), "record");
        must(API(EventSynchronize)(end), "wait");
        float ms;
        must(API(EventElapsedTime)(&ms, begin, end), "time");
        times.push_back(ms * 100);
    }}
    std::sort(times.begin(), times.end());
    printf("%.3f\n", times[times.size() / 2]);
}}
"""


def main() -> None:
    options = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("kernel", type=Path)
    options.add_argument("--task", required=True)
    options.add_argument("--backend", default="cuda", choices=tuple(BUILD))
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    task = load_task(chosen.task)
    kernel = parse_kernel(chosen.kernel.read_text())
    evaluation = evaluate_file(chosen.kernel, task, chosen.backend)
    found = dict(run_all(kernel, task, chosen.backend, chosen.seed))
    for label, one in found.items():
        one["evaluate_us"] = evaluation.times_us.get(label, float("nan"))
    report = {"kernel": kernel.id, "verdict": evaluation.status, "shapes": found}
    json.dump(report, sys.stdout, indent=2)
    print()


def run_all(
    kernel: KernelSource, task: Task, backend: str, seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """By benchmark shape: error (1 is the tolerance) and time_us."""
    name = header_name(kernel, task)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{name}.hpp").write_text(cpp_header(kernel, task, backend))
        for workload in task.workloads("benchmarks", backend):
            inputs = task.inputs(workload, seed)
            time_us = run_one(Path(folder), kernel, task, backend, workload, inputs)
            wanted = task.reference(workload, inputs)
            error = max(_error(Path(folder), task, workload, wanted))
            yield workload.label, {"error": error, "time_us": time_us}


def run_one(
    folder: Path,
    kernel: KernelSource,
    task: Task,
    backend: str,
    workload: Workload,
    inputs: Mapping[str, Array],
) -> float:
    """Microseconds of one application. What it left lies in the folder, by argument."""
    name = header_name(kernel, task)
    for argument, array in inputs.items():
        array.tofile(folder / argument)
    of = f"{name}::prepare(arguments, shape, scratch, nullptr)"
    program = MAIN.format(
        name=name,
        upper=name.upper(),
        rounds=ROUNDS,
        count=len(task.arguments),
        shape=", ".join(f"{size}LL" for size in workload.dims.values()),
        sizes=", ".join(str(a.nbytes(workload.env)) for a in task.arguments),
        files=", ".join(f'"{a.name}"' for a in task.arguments),
        arguments=", ".join(
            f"(decltype({name}::Arguments::{a.name}))buffers[{i}]"
            for i, a in enumerate(task.arguments)
        ),
        prepare=f'must({of}, "prepare");' if kernel.prepare else "",
    )
    (folder / "main.cpp").write_text(program)
    options = ["--use_fast_math"] if "-ffast-math" in kernel.options else []
    options = options if backend == "cuda" else list(kernel.options)
    command = [*BUILD[backend], *options, "-o", "main", "main.cpp"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "main"], cwd=folder, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _error(
    folder: Path, task: Task, workload: Workload, wanted: Mapping[str, Array]
) -> Iterator[float]:
    for output in task.outputs:
        shape = output.shape(workload.env)
        out = np.fromfile(folder / f"{output.name}.out", output.np_dtype).reshape(shape)
        rtol, atol = output.rtol(workload.env), output.atol(workload.env)
        yield compare(out, wanted[output.name], rtol=rtol, atol=atol).error


if __name__ == "__main__":
    main()
