"""Launches with what each parameter of their kernels is given: memory, a scalar, a struct."""

from collections.abc import Mapping, Sequence

from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import (
    Argument,
    Bound,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    pointers,
    scalars,
)
from evaluators.authoring.program.buffers import Buffers, Memory, fields_of
from evaluators.authoring.program.circumstances import tell_circumstances
from evaluators.authoring.program.cpp import Node, node_text, parsed_expression
from evaluators.authoring.program.elements import DTYPES, dtype_bytes, element
from evaluators.authoring.program.host import Frame, Host
from evaluators.authoring.program.items import arguments_of
from evaluators.authoring.program.launches import Call
from evaluators.authoring.program.reading import Dim, Reader
from evaluators.authoring.program.signature import Parameter, Signature, signature_of
from evaluators.authoring.program.terms import Num, SizeOf, Term, Unknown


class Binder:
    """Binds the calls of one program."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.reader = Reader(host)
        self.buffers = Buffers(self.reader)
        self.offsets: list[str] = []

    def bound(self, call: Call) -> Bound:
        signature = self.signature(call.kernel)
        frame = call.frame or _nowhere(signature)
        nodes = [parsed_expression(text) for text in call.dims]
        one: Dim = (Num(1), Num(1), Num(1))
        read = [self.reader.dim(node, frame) if node else one for node in nodes[:2]]
        lds: Term = Num(0)
        if len(nodes) > 2 and nodes[2] is not None:
            lds = self.sized(self.reader.term(nodes[2], frame))
        arguments = [
            self._argument(parameter, text, frame, call, signature)
            for parameter, text in zip(signature.parameters, call.given, strict=False)
        ]
        made = Bound(
            signature=signature,
            templates=[],
            grid=_sized_dim(self, read[0]),
            block=_sized_dim(self, read[1]),
            lds_bytes=lds,
            arguments=arguments,
            cooperative=call.cooperative,
        )
        made.unread += [
            f"{name}: is passed with an offset, which front matter can't say"
            for name in self.offsets
        ]
        self.offsets.clear()
        made.templates = self._templates(call, frame, signature, arguments)
        tell_circumstances(made, call, frame, self.reader)
        if len(call.given) != len(signature.parameters):
            made.unread.append(
                f"{signature.item.name} takes {len(signature.parameters)} arguments, the launch "
                f"in line {self.host.program.line(call.at)} gives {len(call.given)}"
            )
        return made

    def unlaunched(self, name: str) -> Bound:
        """By the signature alone, for a file without host code."""
        signature = self.signature(name)
        arguments: list[Argument] = []
        for one in signature.parameters:
            if one.pointer:
                of = element(one.type, self._aliases(signature, (), ()))
                arguments.append(Pointer(Memory(f"?{one.name}", one.name, one.type), one, of))
            else:
                arguments.append(self._free(one, signature))
        ones: Dim = (Num(1), Num(1), Num(1))
        return Bound(
            signature=signature,
            templates=[default or _guessed(kind) for kind, _, default in signature.templates],
            grid=ones,
            block=ones,
            lds_bytes=Num(0),
            arguments=arguments,
            guessed=True,
        )

    def signature(self, name: str) -> Signature:
        return signature_of(self.host.program, self.host.kernels[name], self.host.device)

    def sized(self, term: Term) -> Term:
        """With sizes of types as numbers, where they are known."""

        def change(one: Term) -> Term:
            if not isinstance(one, SizeOf):
                return one
            found = element(one.type, self.host.aliases)
            return Num(found.count * dtype_bytes(found.dtype)) if found.dtype else one

        return terms.replaced(term, change)

    def _argument(
        self, parameter: Parameter, text: str, frame: Frame, call: Call, signature: Signature
    ) -> Argument:
        braced = text.lstrip().startswith("{")  # what makes a struct where it is passed
        node = parsed_expression(f"{parameter.name}{text}" if braced else text)
        if node is None:
            return Opaque(parameter.name, parameter.type)
        if parameter.pointer:
            return self._pointer(parameter, node, frame, call, signature)
        aliases = self._aliases(signature, call.templates, ())
        of = element(parameter.type, aliases)
        if of.dtype and of.count == 1:
            term = self.sized(self.reader.term(node, frame))
            boolean = of.dtype == "bool"
            if isinstance(term, Unknown) and node.type == "identifier":
                term = Unknown(text)
            return Scalar(parameter.name, term, of, boolean)
        return self._struct(parameter, node, frame)

    def _pointer(
        self, parameter: Parameter, node: Node, frame: Frame, call: Call, signature: Signature
    ) -> Argument:
        memory = self.buffers.of(node, frame)
        if node.type == "binary_expression":
            self.offsets.append(parameter.name)
        if memory.elements is not None:
            memory.elements = self.sized(memory.elements)
        aliases = self._aliases(signature, call.templates, ((parameter, memory),))
        of = element(parameter.type, aliases)
        if not of.dtype:
            of = element(memory.type, self.host.aliases)
        return Pointer(memory, parameter, of)

    def _struct(self, parameter: Parameter, node: Node, frame: Frame) -> Argument:
        fields = [*fields_of(self.host, parameter.type)] or _lanes(parameter.type)
        declared = any(parameter.type in item.names for item in self.host.items)
        if declared and not fields:
            return Struct(parameter.name, parameter.type, ())
        values = self._values(node, frame)
        if len(values) != len(fields) or not fields:
            return Opaque(parameter.name, parameter.type)
        made: list[Argument] = []
        lanes = bool(_lanes(parameter.type))
        for (kind, name), value in zip(fields, values, strict=True):
            of = element(kind, self.host.aliases)
            if "*" in kind:
                own = Parameter(
                    name=name, type=kind, pointer=True, constant=False, read=True, written=True
                )
                made.append(Pointer(self.buffers.of(value, frame), own, of))
            elif of.dtype:
                term = self.reader.term(value, frame)
                word = f"{parameter.name}_{name}" if lanes else name
                made.append(Scalar(word, term, of, of.dtype == "bool", lanes))
            else:
                return Opaque(parameter.name, parameter.type)
        return Struct(parameter.name, parameter.type, tuple(made))

    def _values(self, node: Node, frame: Frame) -> Sequence[Node]:
        """What a struct's fields are set to where it is made: S s{a, b}; S{a, b}."""
        if node.type == "compound_literal_expression":
            listed = node.child_by_field_name("value")
            return listed.named_children if listed is not None else ()
        if node.type == "call_expression" and node_text(node).startswith("make_"):
            return arguments_of(node)
        found = self.host.local(frame, node_text(node))
        return found.values if found is not None and found.braced else ()

    def _aliases(
        self,
        signature: Signature,
        given: Sequence[str],
        pairs: Sequence[tuple[Parameter, Memory]],
    ) -> Mapping[str, str]:
        """What type parameters of the kernel's template stand for, beside the program's own."""
        found = dict(self.host.aliases)
        for (kind, name, default), text in zip(signature.templates, given, strict=False):
            if kind == "typename":
                found[name] = self._word(text) or default
        for parameter, memory in pairs:
            if any(name == parameter.type for _, name, _ in signature.templates):
                found.setdefault(parameter.type, memory.type)
        return found

    def _templates(
        self, call: Call, frame: Frame, signature: Signature, arguments: Sequence[Argument]
    ) -> list[Term | str]:
        made: list[Term | str] = []
        for place, (kind, name, _) in enumerate(signature.templates):
            if place < len(call.templates):
                text = call.templates[place]
                node = parsed_expression(text) if kind != "typename" else None
                term = self.sized(self.reader.term(node, frame)) if node is not None else None
                known = term is not None and not terms.unknown(term)
                made.append(term if known and term is not None else self._word(text))
            elif (word := _deduced(name, arguments)) is not None:
                made.append(word)
            else:
                break  # the rest have defaults
        return made

    def _word(self, text: str) -> str:
        """A type of the host function's own template stands for what its call gives it."""
        return self.host.template_words.get(text.strip(), text.strip())

    def _free(self, parameter: Parameter, signature: Signature) -> Argument:
        of = element(parameter.type, self._aliases(signature, (), ()))
        if of.dtype and of.count == 1:
            term = self.reader._symbol(parameter.name, None, parameter.type, code=False)
            return Scalar(parameter.name, term, of, of.dtype == "bool")
        if [*fields_of(self.host, parameter.type)] or not of.type:
            return Opaque(parameter.name, parameter.type)
        declared = any(parameter.type in item.names for item in self.host.items)
        return (
            Struct(parameter.name, parameter.type, ())
            if declared
            else Opaque(parameter.name, parameter.type)
        )


def _lanes(type_text: str) -> list[tuple[str, str]]:
    """Type and name of each lane of uint2 and the like."""
    of = element(type_text, {})
    if of.count < 2 or not of.dtype:
        return []
    word = next(name for name, dtype in DTYPES.items() if dtype == of.dtype)
    return [(word, axis) for axis in "xyzw"[: of.count]]


def _sized_dim(binder: Binder, dim: Dim) -> Dim:
    x, y, z = (binder.sized(one) for one in dim)
    return (x, y, z)


def _deduced(name: str, arguments: Sequence[Argument]) -> str | None:
    for one in pointers(arguments):
        if one.parameter.type == name and one.element.type:
            return one.element.type
    for scalar in scalars(arguments):
        if scalar.element.type == name:
            return name
    return None


def _guessed(kind: str) -> str:
    return "float" if kind == "typename" else "256"


def _nowhere(signature: Signature) -> Frame:
    return Frame(signature.item, signature.item.start)
