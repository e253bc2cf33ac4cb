"""The JSON schema of a structured reply, for endpoints that take one."""

from typing import Any

from pydantic import BaseModel


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema in the strict form: every field required, no others, no references."""
    whole = model.model_json_schema()
    schema = _strict(whole, whole.get("$defs", {}))
    assert isinstance(schema, dict)
    return schema


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rpartition("/")[2]], definitions)
    left_out = ("$defs", "title", "default", "minLength", "description")
    kept = {k: _strict(v, definitions) for k, v in node.items() if k not in left_out}
    if "properties" in node:
        # A field may be called like a keyword; its name is not one.
        kept["properties"] = {k: _strict(v, definitions) for k, v in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    return kept
