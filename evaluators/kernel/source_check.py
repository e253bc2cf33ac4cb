"""What a kernel's source may not hold: other files, assembly, attributes that run or place code."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.brackets import check_brackets, check_depth
from evaluators.kernel.dynamic_lds import check_dynamic_lds
from evaluators.kernel.normalise import normalised
from evaluators.kernel.pasting import check_pasting
from evaluators.kernel.porting.headers import given_for, needed_by_names, why_refused
from evaluators.kernel.porting.host_code import host_code
from evaluators.kernel.porting.implied import implied_headers
from evaluators.kernel.printing import takes_guards_away, why_not
from evaluators.kernel.tokens import KERNEL_FILE, LINE_MARKER, Token, preprocessed_tokens, tokens
from evaluators.spelling import printable

DIRECTIVES = {"define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include"}
DIRECTIVES |= {"pragma", "undef"}
ATTRIBUTES = {"aligned", "always_inline", "amdgpu_flat_work_group_size", "amdgpu_waves_per_eu"}
ATTRIBUTES |= {"clang", "const", "device", "ext_vector_type", "fallthrough", "flatten", "global"}
ATTRIBUTES |= {"gnu", "hot", "launch_bounds", "likely", "may_alias", "maybe_unused", "nodiscard"}
ATTRIBUTES |= {"noinline", "packed", "pure", "unlikely", "unroll", "unused", "vector_size"}
ATTRIBUTES |= {"address_space", "amdgpu_num_sgpr", "amdgpu_num_vgpr"}
ADDRESS_SPACES = {"1", "3", "4", "5"}
"""Global, LDS, constant, private; others are segment registers on x86."""
PRAGMAS = re.compile(r"pragma\s+(unroll\b.*|nounroll|once|clang loop unroll\(\w+\))")

_FORBIDDEN_WORDS = {
    "asm": "inline assembly is not allowed",
    "__asm": "inline assembly is not allowed",
    "__asm__": "inline assembly is not allowed",
    "_Pragma": "_Pragma is not allowed: write #pragma unroll",
    "__pragma": "__pragma is not allowed: write #pragma unroll",
    "__has_include": "__has_include is not allowed",
    "__has_include_next": "__has_include_next is not allowed",
    "__has_embed": "__has_embed is not allowed",
    "import": "modules are not allowed",
    "thread_local": "thread_local is not HIP",
    "__thread": "__thread is not HIP",
    **{
        clock: f"{clock} is not allowed: a kernel is the same whenever it is compiled"
        for clock in ("__DATE__", "__TIME__", "__TIMESTAMP__")
    },
    **{
        name: f"{name} is not allowed: engines and compilers spell a function differently"
        for name in ("__PRETTY_FUNCTION__", "__FUNCTION__", "__func__", "__FUNCSIG__")
    },
    **{
        name: f"{name} is not allowed: a kernel is the same however it is compiled"
        for name in ("__OPTIMIZE__", "__OPTIMIZE_SIZE__", "__NO_INLINE__", "__VERSION__")
    },
}
_FORBIDDEN_BUILTIN = re.compile(
    r"__builtin_(ia32_|apply|return_address|frame_address|extract_return|longjmp|setjmp|eh_|"
    r"unwind|init_|dwarf|__clear_cache|cpu_|dynamic_object|object_size|constant_p|"
    r"is_constant_evaluated|FUNCTION|source_location)|__ks_|__sync_synchronize_|__SANITIZE_|__has_feature$"
)
_INCLUDE = re.compile(r'include\s*(?:<([^>"]*)>|"([^">]*)")\s*')


def check_source(code: str, *, first_line: int, kernels: Collection[str] = ()) -> tuple[str, ...]:
    """Those of our headers that the source needs, in order. kernels: what it is to launch.

    Raises Rejected(INVALID) with line and reason, before any compiler has seen the source.
    """
    found = list(tokens(normalised(code, first_line), first_line))
    check_brackets(found)
    headers = _headers(found)
    for token in found:
        if token.kind == "directive":
            _check_directive(token)
    _check_words(found)
    _check_macros(found, kernels)
    check_pasting(found)
    check_dynamic_lds(found)
    return tuple(dict.fromkeys((*headers, *implied_headers(found))))


def own_text(preprocessed: str, header_folder: str) -> str:
    """The kernel's own part of a preprocessor's output, with line markers, headers left out.

    Raises Rejected(INVALID) when any file but the kernel and those of header_folder was opened:
    the second layer of the include allow-list, which trusts no tokenizer of ours.
    """
    rows: list[str] = []
    mine = False
    for row in preprocessed.split("\n"):
        if marker := LINE_MARKER.fullmatch(row):
            file = marker.group(2)
            mine = file == KERNEL_FILE
            if not (mine or file.startswith(("<", header_folder))):
                raise Rejected(Status.INVALID, "a file off the list of headers was included")
            if mine:
                rows.append(f'# {marker.group(1)} "{KERNEL_FILE}"')
        elif mine:
            rows.append(row)
    return "\n".join(rows)


def check_preprocessed(own: str) -> list[Token]:
    """The kernel's tokens, macros expanded. Raises Rejected(INVALID) as check_source does."""
    found = list(preprocessed_tokens(own))
    check_brackets(found)
    _check_words(found)
    check_dynamic_lds(found)
    return found


def _headers(found: Sequence[Token]) -> tuple[str, ...]:
    """Those of ours that stand for what is included; all others are refused at once."""
    given: list[str] = []
    refused: list[tuple[str, Token]] = []
    for token in found:
        if token.kind != "directive" or not re.match(r"include\b", token.text):
            continue
        included = _INCLUDE.fullmatch(token.text)
        if included is None:
            raise _invalid("#include of a macro is not allowed: name the header itself", token)
        header = included.group(1) or included.group(2) or ""
        ours = given_for(header)
        if ours is None:
            refused.append((header, token))
        else:
            given += ours
    if refused:
        told = why_refused([(header, token.line) for header, token in refused])
        if host := host_code(found):
            reason, line = host
            told += f"; from line {line} on: {reason}"
        raise _invalid(told, refused[0][1])
    return tuple(dict.fromkeys((*given, *needed_by_names(found))))


def _check_directive(token: Token) -> None:
    name = re.match(r"\w*", token.text)
    word = name.group() if name else ""
    if not token.text:
        return
    if word not in DIRECTIVES:
        raise _invalid(f"the directive #{word or token.text[:20]} is not allowed", token)
    if word == "pragma" and not PRAGMAS.fullmatch(token.text):
        raise _invalid(f"#{token.text[:60]} is not allowed: only #pragma unroll is", token)
    if takes_guards_away(token.text):
        raise _invalid(f"#{token.text[:60]} is not allowed: a kernel may not print", token)
    if word in ("define", "undef", "if", "elif", "ifdef", "ifndef"):
        inside = [*tokens(token.text[len(word) :], token.line)]
        check_depth(inside)
        _check_words(inside)


def _check_macros(found: Sequence[Token], kernels: Collection[str]) -> None:
    """A name in an attribute, or a kernel's, may not be a macro, which could stand for another."""
    made: dict[str, Token] = {}
    inside: list[Token] = []
    for token in found:
        if token.kind == "directive" and (defined := re.match(r"define\s+(\w+)", token.text)):
            made[defined[1]] = token
            inside += tokens(token.text[defined.end() :], token.line)
    for name in sorted(made.keys() & kernels):
        raise _invalid(f"the kernel {name} is also a macro: give one another name", made[name])
    for named in (*_attribute_lists(found), *_attribute_lists(inside)):
        for token in named:
            if token.text in made:
                raise _invalid(
                    f"the attribute {token.text} is also a macro: give the macro another name",
                    made[token.text],
                )


def _check_words(found: Sequence[Token]) -> None:
    for token in found:
        if token.kind == "word":
            if reason := _FORBIDDEN_WORDS.get(token.text) or why_not(token.text):
                raise _invalid(reason, token)
            if _FORBIDDEN_BUILTIN.match(token.text):
                raise _invalid(f"{token.text} is not allowed in a kernel", token)
    for named in _attribute_lists(found):
        _check_attributes(named)


def _attribute_lists(found: Sequence[Token]) -> Iterator[list[Token]]:
    """Each from its outer bracket to the one that closes it."""
    for i, token in enumerate(found):
        if token.text in ("__attribute__", "__attribute", "__declspec"):
            if [t.text for t in found[i + 1 : i + 3]] != ["(", "("]:
                raise _invalid(f"{token.text} must be followed by ((...))", token)
            yield _enclosed(found, i + 1, "(", ")")
        elif token.text == "[" and i + 1 < len(found) and found[i + 1].text == "[":
            yield _enclosed(found, i, "[", "]")


def _enclosed(found: Sequence[Token], start: int, opening: str, closing: str) -> list[Token]:
    """Tokens from a bracket at start to the one that closes it."""
    depth = 0
    for i in range(start, len(found)):
        depth += (found[i].text == opening) - (found[i].text == closing)
        if depth == 0:
            return list(found[start : i + 1])
    return list(found[start:])


def _check_attributes(inside: Iterable[Token]) -> None:
    """Names at depth two are attributes; what is deeper are their arguments."""
    depth = 0
    listed = list(inside)
    for i, token in enumerate(listed):
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if depth != 2:
            continue
        if token.kind == "literal":
            raise _invalid("a literal among attributes is not allowed", token)
        if token.kind == "word" and token.text.strip("_") not in ATTRIBUTES:
            raise _invalid(f"the attribute {token.text} is not allowed", token)
        if token.text.strip("_") == "address_space":
            opened, number, closed = ([t.text for t in listed[i + 1 : i + 4]] + [""] * 3)[:3]
            if (opened, closed) != ("(", ")") or number not in ADDRESS_SPACES:
                raise _invalid("an address_space is 1, 3, 4 or 5, as a plain number", token)


def _invalid(reason: str, token: Token) -> Rejected:
    """reason: may quote the source, tabs and all."""
    return Rejected(Status.INVALID, printable(reason), line=token.line)
