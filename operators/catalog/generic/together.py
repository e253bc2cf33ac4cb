"""Together: statements for all outputs of a thread, each for all of them before the next one."""

import re
from collections.abc import Mapping

from operators.catalog.generic.analysis.guards import condition_of
from operators.catalog.generic.analysis.indices import OWN
from operators.catalog.generic.analysis.locals import Local, leaves_loop, statements
from operators.catalog.generic.analysis.outputs import Outputs
from operators.catalog.generic.analysis.reading import Node, Unsure, inside


class Together(Outputs):
    """What differs stands in loops over the outputs, and outlives them in arrays; other statements,
    and loops that all outputs go through, stay as they are."""

    def _together(self, body: list[Node]) -> str:
        """Statements, each for all outputs before the next one."""
        parts: list[str] = []
        waiting: list[Node] = []
        for node in body:
            if self._is_own(node):
                waiting.append(node)
                continue
            parts.append(self._flushed(waiting))
            waiting = []
            parts.append(self._shared(node))
        parts.append(self._flushed(waiting))
        return "".join(parts)

    def _is_formula(self, node: Node) -> bool:
        """Whether a declaration's names are written as what they stand for."""
        return node.type == "declaration" and all(
            one.key in self.formulas or one.key not in self.varying for one in self.locals.of(node)
        )

    def _is_own(self, node: Node) -> bool:
        """Whether a statement is done for each output by itself, whatever it holds."""
        if not self.varies(node):
            return False
        if node.type == "compound_statement":
            return False
        if node.type == "if_statement":
            return node.id not in self.bounds and self.varies(condition_of(node))
        if node.type in ("for_statement", "while_statement"):
            head = [node.child_by_field_name(one) for one in ("initializer", "condition", "update")]
            body = node.child_by_field_name("body")
            counters = {
                one.key
                for kid in head
                if kid is not None and kid.type == "declaration"
                for one in self.locals.of(kid)
            }
            return (
                any(one is not None and self.varies(one) for one in head)
                or self._counts_own(node)
                or bool(counters & self.varying)
                or leaves_loop(body)
            )
        return True

    def _counts_own(self, loop: Node) -> bool:
        """Whether it is such a loop over outputs itself."""
        head = loop.child_by_field_name("initializer")
        return head is not None and any(OWN.fullmatch(one.name) for one in self.locals.of(head))

    def _shared(self, node: Node) -> str:
        """A statement that all outputs go through together."""
        if not self.varies(node):
            return f"{self.reading.text(node)}\n"
        if node.type == "compound_statement":
            return f"        {{\n{self._together(statements(node))}        }}\n"
        if node.type == "if_statement":
            text = f"if ({self.of_last(condition_of(node))}) {{\n"
            text += self._together(statements(node.child_by_field_name("consequence")))
            other = node.child_by_field_name("alternative")
            if other is None:
                return text + "        }\n"
            body = [one for one in other.named_children if one.type != "comment"][-1]
            return text + "        } else {\n" + self._together(statements(body)) + "        }\n"
        body = node.child_by_field_name("body")
        head = self.reading.data[node.start_byte : body.start_byte].decode()
        return f"        {head.rstrip()} {{\n{self._together(statements(body))}        }}\n"

    def _flushed(self, group: list[Node]) -> str:
        """One loop over the outputs for statements that follow each other."""
        group = [one for one in group if not self._is_formula(one)]
        if not group:
            return ""
        if any(inside(one, "return_statement") for one in group):
            raise Unsure
        start, end = group[0].start_byte, group[-1].end_byte
        names = {**self.formulas}
        before: list[str] = []
        kept: set[str] = set()
        for name in self.varying - self.formulas.keys():
            if name in self.locals.parameters:
                raise Unsure  # it is changed from output to output
            if not self.locals.used_within(name, start, end):
                names[name] = f"{name.partition('@')[0]}[{self.own}]"
                kept.add(name)
        lines = []
        for node in group:
            if node.type == "declaration":
                lines.append(self._declared(node, kept, names, before))
            else:
                if node.type == "for_statement" and self._counts_own(node):
                    lines.append("#pragma unroll")
                lines.append(self.locals.with_names(node, self._known_in(node, names)))
        own, count = self.own, self.many
        return "".join(
            [
                *before,
                "#pragma unroll\n",
                f"        for (int {own} = 0; {own} < {count}; ++{own}) {{\n",
                *(f"            {one}\n" for one in lines if one),
                "        }\n",
            ]
        )

    def _known_in(self, node: Node, names: Mapping[str, str]) -> dict[str, str]:
        """Without variables that are declared within it, which are each output's own."""
        return {
            key: text
            for key, text in names.items()
            if key not in self.locals.declared
            or not node.start_byte <= self.locals.declared[key].statement.start_byte < node.end_byte
        }

    def _declared(
        self, node: Node, kept: set[str], names: dict[str, str], before: list[str]
    ) -> str:
        """A declaration inside of the loop; variables that outlive it become arrays before it."""
        kind = self.type(node)
        lines = []
        for one in self.locals.of(node):
            if one.form == "reference" or node.text.lstrip().startswith(b"static"):
                raise Unsure
            value = None if one.value is None else self.locals.with_names(one.value, names)
            if one.key in self.formulas:
                continue
            if one.key not in kept:
                text = self.locals.with_names(
                    one.declarator, {k: v for k, v in names.items() if k != one.key}
                )
                brace = value is not None and value.startswith("{")
                initial = "" if value is None else (f" {value}" if brace else f" = {value}")
                lines.append(f"{kind} {text}{initial};")
                continue
            if kind == "auto" or (one.value is not None and one.value.type == "argument_list"):
                raise Unsure
            before.append(self._array(one, kind))
            if value is None:
                continue
            if one.form == "array_declarator" or value.startswith("{"):
                raise Unsure
            lines.append(f"{names[one.key]} = {value};")
        return " ".join(lines)

    def _array(self, one: Local, kind: str) -> str:
        """Of one variable for each output."""
        text = self.reading.text(one.declarator)
        text = re.sub(rf"\b{one.name}\b", f"{one.name}[{self.many}]", text, count=1)
        if one.form == "pointer_declarator":
            text = re.sub(r"\*\s*const\b", "*", text)
        else:
            kind = re.sub(r"\bconst\b\s*", "", kind)
        return f"        {kind} {text};\n"
