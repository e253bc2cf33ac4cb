"""A generator of small random kernels without data races: barriers, loops, shuffles, LDS."""

import random
from dataclasses import dataclass, field

HELPERS = """
template <int W> __device__ unsigned wave_sum(unsigned v) {
    for (int d = W / 2; d > 0; d >>= 1) v += __shfl_down(v, d);
    return v;
}
__device__ unsigned block_sum(unsigned v, unsigned* buffer, int tid, int threads) {
    __syncthreads();
    buffer[tid] = v;
    __syncthreads();
    unsigned total = 0;
    for (int i = 0; i < threads; ++i) total += buffer[i] * (i + 1);
    return total;
}
__device__ unsigned vote_or_shift(unsigned v, int delta) {
    if (__any(v % 3 == 1)) return v + 7;
    return __shfl_up(v, delta);
}
__device__ void swap_lanes(unsigned& v, int mask) { v = v * 3 + __shfl_xor(v, mask); }
template <typename T> __device__ T twist(T a, T b) { return (a ^ (b << 3)) + (b >> 5); }
__device__ unsigned own_index(unsigned v) { return v + threadIdx.x * 5 + blockIdx.x; }
__device__ unsigned lane_or_one(unsigned v) {
    if (v % 5 == 0) return v + __lane_id();
    return v | 1;
}
template <int N> __device__ unsigned mixed(unsigned (&r)[N], unsigned v) {
    for (int i = 0; i < N; ++i) r[i] = r[i] * 3u + v;
    r[0] += __shfl_xor(r[N - 1], 1);
    return r[N / 2];
}
__device__ unsigned rows(unsigned m[2][2], const unsigned* from) {
    for (int i = 0; i < 4; ++i) m[i / 2][i % 2] += from[i];
    return m[0][1] ^ m[1][1];
}
__device__ unsigned not_for_odd(unsigned n, unsigned v, unsigned* buffer, int tid, int threads) {
    if (n % 2u == 1u) return v;
    __syncthreads();
    buffer[tid] = v;
    __syncthreads();
    if (tid % 3 == 0) return v + 1u;
    return v ^ buffer[(tid + 1) % threads];
}
__device__ unsigned first_below(unsigned v, unsigned* buffer, int tid, int threads) {
    __syncthreads();
    buffer[tid] = v % 64u;
    __syncthreads();
    for (int i = 0; i < 5; ++i)
        if (buffer[(tid + i) % threads] < v % 50u) return i + __lane_id();
    return v;
}
__device__ unsigned own_names(unsigned blockIdx, unsigned threadIdx) {
    return blockIdx * 3u + __shfl_xor(threadIdx, 2);
}
"""


@dataclass(slots=True)
class Kernel:
    """One random kernel: its text, and the size of its block."""

    name: str
    text: str
    block: tuple[int, int]


@dataclass(slots=True)
class Generator:
    """Writes one kernel. uniform: what all threads are sure to have the same value of."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    variables: list[str] = field(default_factory=list)
    uniform: list[str] = field(default_factory=list)
    serial: int = 0
    loops: int = 0
    exited: bool = False

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}"

    def expr(self, depth: int = 2, *, uniform: bool = False) -> str:
        pick = self.rng.random()
        names = self.uniform if uniform else self.variables + self.uniform
        if depth == 0 or pick < 0.25:
            if self.rng.random() < 0.3:
                return f"{self.rng.randrange(64)}u"
            return self.rng.choice(names)
        a, b = self.expr(depth - 1, uniform=uniform), self.expr(depth - 1, uniform=uniform)
        forms = [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} ^ {b})",
            f"({a} % 13u)",
            f"({a} >> 3)",
            f"({a} < {b} ? {a} : {b})",
            f"min({a}, {b})",
            f"twist({a}, {b})",
        ]
        if not uniform:
            forms += [f"x[({a}) % 64u]", f"own_index({a})"]
        return self.rng.choice(forms)

    def condition(self, *, uniform: bool = False) -> str:
        a = self.expr(1, uniform=uniform)
        return self.rng.choice([f"{a} % 3u == 1u", f"{a} % 2u", f"{a} > {self.rng.randrange(40)}u"])

    def target(self) -> str:
        return self.rng.choice(self.variables)

    def block(self, budget: int, *, together: bool, loop: bool = False) -> None:
        """Statements. together: all threads that still run are here, so barriers are allowed."""
        saved, saved_uniform = list(self.variables), list(self.uniform)
        self.indent += 1
        for _ in range(budget):
            self.statement(together=together, loop=loop)
        self.indent -= 1
        self.variables, self.uniform = saved, saved_uniform

    def statement(self, *, together: bool, loop: bool) -> None:
        forms = [
            self.assign,
            self.assign,
            self.declare,
            self.wave,
            self.wave,
            self.divergent_if,
            self.divergent_loop,
            self.array,
            self.plain_loop,
            self.helper,
            self.reference,
            self.declared_otherwise,
            self.array_helper,
        ]
        if together:
            forms += [
                self.exchange,
                self.exchange,
                self.uniform_if,
                self.uniform_loop,
                self.agreed_if,
                self.atomic,
                self.block_helper,
                self.uniform_change,
                self.sweep,
                self.switch,
                self.block_vote,
                self.while_loop,
                self.agreed_loop,
                self.early_helper,
                self.parting_loop,
            ]
        if loop and not together and self.rng.random() < 0.3:
            forms = [self.leave]
        self.rng.choice(forms)()

    def nested(self, head: str, *, together: bool, loop: bool = False, budget: int = 0) -> None:
        self.line(head + " {")
        depth = budget or self.rng.randrange(1, 4)
        self.block(
            depth if self.indent < 4 else 1, together=together and self.indent < 5, loop=loop
        )
        self.line("}")

    def assign(self) -> None:
        operator = self.rng.choice(["=", "+=", "^="])
        self.line(f"{self.target()} {operator} {self.expr()};")

    def declare(self) -> None:
        name = self.fresh("v")
        kind = self.rng.choice(["unsigned", "unsigned", "const unsigned", "auto", "int"])
        value = self.expr()
        self.line(f"{kind} {name} = {value};" if kind != "auto" else f"auto {name} = 0u + {value};")
        if kind == "const unsigned" or kind == "int":
            self.line(f"{self.target()} += (unsigned){name};")
        else:
            self.variables.append(name)

    def wave(self) -> None:
        value = self.expr(1)
        c = self.rng.choice([1, 2, 3, 5, 8, 16])
        width = self.rng.choice(["", ", 8", ", 16", ", WAVEFRONT"])
        form = self.rng.choice(
            [
                f"__shfl({value}, {c}{width})",
                f"__shfl({value}, (int)({self.expr(1)} & 31u){width})",
                f"__shfl_up({value}, {c}{width})",
                f"__shfl_down({value}, {c}{width})",
                f"__shfl_xor({value}, {c}{width})",
                f"(unsigned)__popcll(__ballot({value} % 2u))",
                f"(unsigned)__any({value} % 7u == 0u)",
                f"(unsigned)__all({value} % 7u != 0u)",
                f"__shfl_xor({value}, 1) + __shfl_down({value} + 1u, {c})",
                f"__shfl(__shfl_up({value}, 1), {c})",
                "(unsigned)__popcll(__activemask())",
                f"({self.condition()} ? __shfl_xor({value}, 2) : {self.expr(1)})",
                f"(unsigned)({self.condition()} && __any({value} % 5u == 2u))",
            ]
        )
        self.line(f"{self.target()} {self.rng.choice(['=', '+='])} {form};")

    def helper(self) -> None:
        t = self.target()
        self.line(
            self.rng.choice(
                [
                    f"{t} += wave_sum<WAVEFRONT>({self.expr(1)});",
                    f"{t} ^= wave_sum<16>({t});",
                    f"{t} = vote_or_shift({self.expr(1)}, 2);",
                    f"swap_lanes({t}, 4);",
                    f"{t} = lane_or_one({self.expr(1)});",
                ]
            )
        )

    def reference(self) -> None:
        t, name = self.target(), self.fresh("r")
        form = self.rng.choice(["reference", "lambda", "pointer"])
        if form == "reference":
            self.line(f"unsigned& {name} = {t};")
            self.line(f"{name} += {self.expr(1)};")
            self.wave()
            self.line(f"{name} ^= 5u;")
        elif form == "lambda":
            self.line(f"auto {name} = [&](unsigned k) {{ {t} += k * 3u; return {t} ^ k; }};")
            self.line(f"{self.target()} = {name}({self.expr(1)});")
            self.wave()
            self.line(f"{self.target()} += {name}(3u);")
        else:
            self.line(f"unsigned* {name} = &{t};")
            self.wave()
            self.line(f"*{name} += {self.expr(1)};")

    def divergent_if(self) -> None:
        self.nested(f"if ({self.condition()})", together=False)
        if self.rng.random() < 0.4:
            self.lines[-1] += " else {"
            self.block(2, together=False)
            self.line("}")

    def divergent_loop(self) -> None:
        if self.loops >= 3 or self.indent > 4:
            return self.assign()
        self.loops += 1
        i = self.fresh("i")
        bound = self.rng.choice([f"(int)({self.expr(1)} % 4u)", "3"])
        form = self.rng.randrange(3)
        if form == 0:
            self.nested(f"for (int {i} = 0; {i} < {bound}; ++{i})", together=False, loop=True)
        else:
            self.line(f"int {i} = 0;")
            head = f"while ({i}++ < {bound})" if form == 1 else "do"
            self.nested(head, together=False, loop=True)
            if form == 2:
                self.lines[-1] += f" while (++{i} < {bound});"
        return None

    def leave(self) -> None:
        self.line(f"if ({self.condition()}) {self.rng.choice(['break', 'continue'])};")

    def array(self) -> None:
        name = self.fresh("q")
        self.line(f"unsigned {name}[4] = {{{self.expr(1)}, {self.expr(1)}}};")
        self.line(f"for (int k = 0; k < 4; ++k) {name}[k] += {self.expr(1)} * k;")
        self.wave()
        self.line(f"{self.target()} += {name}[{self.expr(1)} % 4u] + {name}[3];")

    def plain_loop(self) -> None:
        t = self.target()
        self.line(f"for (int k = 0; k < {self.rng.randrange(1, 6)}; ++k) {{")
        self.line(f"    if ({self.condition()}) continue;")
        self.line(f"    {t} += {self.expr(1)} * k;")
        self.line("}")

    def exchange(self) -> None:
        s = self.rng.choice(["s0", "s1"])
        self.line("__syncthreads();")
        self.line(f"{s}[tid] = {self.expr()};")
        self.line("__syncthreads();")
        c = self.rng.randrange(1, 9)
        self.line(f"{self.target()} += {s}[(tid + {c}) % THREADS];")

    def uniform_if(self) -> None:
        self.nested(f"if ({self.condition(uniform=True)})", together=True)

    def agreed_if(self) -> None:
        """Uniform, but only the values say so."""
        self.line("__syncthreads();")
        self.line(f"if (tid == 0) flag = {self.expr(uniform=True)};")
        self.line("__syncthreads();")
        self.nested("if (flag % 2u == 0u)" if not self.exited else "if (n % 2 == 1)", together=True)

    def agreed_loop(self) -> None:
        if self.loops >= 3 or self.indent > 3:
            return self.exchange()
        self.loops += 1
        i = self.fresh("i")
        self.line(f"for (unsigned {i} = tid; {i} < tid + {self.rng.randrange(1, 4)}u; ++{i})")
        self.nested("", together=True, budget=2)
        return None

    def uniform_loop(self) -> None:
        if self.loops >= 3 or self.indent > 3:
            return self.exchange()
        self.loops += 1
        i = self.fresh("i")
        bound = self.rng.choice(["3u", "n % 4u", "2u"])
        self.line(f"for (unsigned {i} = 0; {i} < {bound}; ++{i}) {{")
        self.uniform.append(i)
        self.block(self.rng.randrange(1, 4), together=True)
        if self.rng.random() < 0.3:
            self.line(f"    if ({self.condition(uniform=True)}) break;")
        self.uniform.remove(i)
        self.line("}")
        return None

    def parting_loop(self) -> None:
        """Threads go on to the next turn one by one, after the last barrier of this one."""
        if self.loops >= 3 or self.indent > 3:
            return self.exchange()
        self.loops += 1
        i = self.fresh("i")
        self.line(f"for (unsigned {i} = 0; {i} < 3u; ++{i}) {{")
        self.block(2, together=True)
        self.line("    __syncthreads();")
        for _ in range(2):
            if self.rng.random() < 0.5:
                self.line(f"    if ({self.condition()}) continue;")
            else:
                self.line(f"    for (int k = 0; k < 3; ++k) if ({self.condition()}) break;")
                self.line(f"    if ({self.condition()}) {{ {self.target()} += 3u; continue; }}")
            self.block(2, together=False)
        self.line("}")
        return None

    def while_loop(self) -> None:
        if self.loops >= 3 or self.indent > 3:
            return self.exchange()
        self.loops += 1
        i = self.fresh("w")
        self.line(f"unsigned {i} = {self.rng.randrange(1, 9)}u;")
        if self.rng.random() < 0.5:
            self.line(f"while ({i} > 0u) {{")
            self.line(f"    {i} >>= 1;")
            self.uniform.append(i)
            self.block(2, together=True)
            self.line("}")
        else:
            self.line("do {")
            self.block(2, together=True)
            self.line("}" + f" while ((--{i}) % 4u);")
        self.uniform = [u for u in self.uniform if u != i]
        return None

    def switch(self) -> None:
        if self.indent > 3:
            return self.exchange()
        self.line(f"switch ((n + {self.rng.randrange(9)}u) % 3u) {{")
        for label in ("case 0:", "case 1:", "default:"):
            self.line(label + " {")
            self.block(1, together=True)
            self.line("} break;")
        self.line("}")
        return None

    def atomic(self) -> None:
        self.line("__syncthreads();")
        self.line("if (tid == 0) total = 0u;")
        self.line("__syncthreads();")
        self.line(f"atomicAdd(&total, {self.expr(1)});")
        self.line("__syncthreads();")
        self.line(f"{self.target()} ^= total;")

    def block_vote(self) -> None:
        kind = self.rng.choice(["count", "or", "and"])
        self.line(f"{self.target()} += (unsigned)__syncthreads_{kind}({self.condition()});")

    def block_helper(self) -> None:
        self.line(f"{self.target()} += block_sum({self.expr(1)}, s2, tid, THREADS);")

    def early_helper(self) -> None:
        if self.rng.random() < 0.5:
            self.line(f"{self.target()} += not_for_odd(n, {self.expr(1)}, s2, tid, THREADS);")
        else:
            self.line(f"{self.target()} ^= first_below({self.expr(1)}, s2, tid, THREADS);")

    def array_helper(self) -> None:
        name, e = self.fresh("h"), self.expr(1)
        if self.rng.random() < 0.5:
            self.line(f"unsigned {name}[3] = {{{e}, {self.expr(1)}}};")
            self.line(f"{self.target()} += mixed({name}, {self.expr(1)}) + {name}[1];")
        else:
            self.line(f"unsigned {name}[2][2] = {{{{{e}, 1u}}, {{{self.expr(1)}, 2u}}}};")
            self.line(f"{self.target()} ^= rows({name}, &x[({self.expr(1)}) % 32u]);")
            self.line(f"{self.target()} += own_names({name}[1][0], {self.expr(1)});")

    def declared_otherwise(self) -> None:
        """Forms of declarations that are not T name = value;"""
        a, b, t = self.fresh("a"), self.fresh("b"), self.target()
        e = self.expr(1)
        first, value = self.rng.choice(
            [
                (f"auto {a}{{0u + {e}}};", a),
                (f"unsigned {a}{{{e}}}, {b} = {a} * 3u, *{b}p = &{b};", f"{a} + *{b}p"),
                (f"struct {{ unsigned l, r; }} {a}; {a}.l = {e}; {a}.r = 3u;", f"{a}.l * {a}.r"),
                (f"struct {b} {{ unsigned l, r; }} {a} = {{{e}, 5u}};", f"{a}.l + {a}.r"),
                (f"volatile unsigned {a} = {e};", a),
                (f"unsigned {a}[THREADS > 3 ? 2 : 4] = {{1u, {e}}};", f"{a}[1] + {a}[0]"),
                (f"const int {a} = tid * 2 + 1, {b} = {a} - 5;", f"(unsigned)({a} * {b})"),
            ]
        )
        self.line(first)
        self.wave()
        self.line(f"{t} += {value};")

    def uniform_change(self) -> None:
        self.line(f"u1 = {self.expr(1, uniform=True)};")

    def sweep(self) -> None:
        t = self.target()
        if self.rng.random() < 0.5:
            bound = self.rng.choice(["64", "40", "(int)n"])
            self.line(f"for (int k = tid; k < {bound}; k += THREADS)")
            self.line(f"    {t} += x[k] * {self.expr(1)};")
        else:
            bound = self.rng.choice(["300", "384", "(int)n * 40", "tid * 3"])
            stride = self.rng.choice(["THREADS", "blockDim.x * blockDim.y", "64"])
            self.line(f"for (int k = tid + {self.rng.randrange(3)}; k < {bound}; k += {stride}) {{")
            self.line(f"    if ({self.condition()}) continue;")
            self.line(f"    {t} = {t} * 3u + (unsigned)k;")
            self.line("}")

    def kernel(self, name: str, block: tuple[int, int]) -> Kernel:
        threads = block[0] * block[1]
        self.variables, self.uniform = ["v0", "d0"], ["n", "u0", "u1"]
        self.line(f"constexpr int THREADS = {threads};")
        for array in ("s0", "s1", "s2"):
            self.line(f"__shared__ unsigned {array}[THREADS];")
        self.line("__shared__ unsigned total, flag;")
        self.line("const int tid = threadIdx.y * blockDim.x + threadIdx.x;")
        self.line("unsigned v0 = x[tid % 64] + blockIdx.x, d0 = tid * 3u + n;")
        self.line("unsigned u0 = n * 5u + blockIdx.x, u1 = 1;")
        self.line("s0[tid] = s1[tid] = s2[tid] = 5u;")  # also for threads that are gone then
        self.line("if (tid == 0) total = flag = 0u;")
        self.line("__syncthreads();")
        if self.rng.random() < 0.25:
            self.exited = True
            self.line(f"if ({self.condition()}) return;")
        for _ in range(self.rng.randrange(4, 9)):
            self.statement(together=True, loop=False)
        self.line("y[offset + blockIdx.x * THREADS + tid] = v0 + d0 * 7u + u1;")
        head = f"__global__ void {name}(const unsigned* x, unsigned* y, unsigned n, int offset) {{"
        return Kernel(name=name, text="\n".join([head, *self.lines, "}"]), block=block)


BLOCKS = ((64, 1), (32, 1), (96, 1), (16, 8), (40, 1), (8, 5), (128, 1), (1, 1))
GRID = 2
STRIDE = 256


def kernel_file(seed: int, count: int) -> str:
    """A kernel file with count random kernels, each launched once, on parts of one output."""
    rng = random.Random(seed)
    kernels = [Generator(rng).kernel(f"k{i}", rng.choice(BLOCKS)) for i in range(count)]
    launches = [
        f"  - {{kernel: {k.name}, grid: [{GRID}], block: [{k.block[0]}, {k.block[1]}], "
        f"args: [x, y, {{value: {7 + i}, type: int32}}, {{value: {i * STRIDE}, type: int32}}]}}"
        for i, k in enumerate(kernels)
    ]
    return "\n".join(
        ["/*---", "launches:", *launches, "---*/", HELPERS, *(k.text for k in kernels)]
    )
