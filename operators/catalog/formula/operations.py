"""What stands in numpy's place for traced arrays."""

from typing import Any

from operators.catalog.formula.functions import of_ufunc
from operators.catalog.formula.functions_by_name import FUNCTIONS_BY_NAME, of_function
from operators.catalog.formula.indexing import put, taken


class Operations:
    """Everything that a traced array can be asked to do."""

    ufunc = staticmethod(of_ufunc)
    function = staticmethod(of_function)
    taken = staticmethod(taken)
    put = staticmethod(put)

    @staticmethod
    def has(name: str) -> bool:
        """Whether arrays have a method of that name here."""
        return name in FUNCTIONS_BY_NAME


OPERATIONS: Any = Operations()
