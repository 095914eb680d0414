"""What is made when it is first asked for, and may have to be waited for; without Streamlit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class made_once(Generic[Value]):  # noqa: N801 - used like a function
    """An attribute that is made when it is first asked for, and may be waited for.

    `functools.cached_property` holds a lock meanwhile, up to Python 3.11 one for all objects: a session that waits for
    its model would hold up all that ask for another.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        found: Value = self._make(instance)
        instance.__dict__[self._make.__name__] = found
        return found
