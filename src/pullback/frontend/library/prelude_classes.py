"""Containers of `collections` in plain Python: the front end lowers these classes as if the user had written them.

`stands_for` names the attribute that holds the plain list or dict, which is what functions get that are given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Deque:
    """collections.deque"""

    stands_for = "items"

    def __init__(self, iterable: Iterable[Any] = (), maxlen: int | None = None) -> None:
        self.items: list[Any] = []
        self.maxlen = maxlen
        self.extend(iterable)

    def append(self, item: Any) -> None:
        self.items.append(item)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            self.items.pop(0)

    def appendleft(self, item: Any) -> None:
        self.items.insert(0, item)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            self.items.pop()

    def pop(self) -> Any:
        return self.items.pop()

    def popleft(self) -> Any:
        return self.items.pop(0)

    def extend(self, iterable: Iterable[Any]) -> None:
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable: Iterable[Any]) -> None:
        for item in iterable:
            self.appendleft(item)

    def insert(self, place: int, item: Any) -> None:
        self.items.insert(place, item)

    def clear(self) -> None:
        self.items = []

    def rotate(self, n: int = 1) -> None:
        for _ in range(n):
            self.items.insert(0, self.items.pop())
        for _ in range(-n):
            self.items.append(self.items.pop(0))

    def reverse(self) -> None:
        self.items.reverse()

    def copy(self) -> Deque:
        return Deque(self.items, self.maxlen)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Any:
        return self.items[place]

    def __setitem__(self, place: int, item: Any) -> None:
        self.items[place] = item

    def __delitem__(self, place: int) -> None:
        del self.items[place]

    def __contains__(self, item: Any) -> bool:
        return item in self.items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class DefaultDict:
    """collections.defaultdict"""

    stands_for = "table"

    def __init__(self, default_factory: Callable[[], Any] | None = None, /, *args: Any, **named: Any) -> None:
        self.default_factory = default_factory
        self.table: dict[Any, Any] = dict(*args, **named)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.table and self.default_factory is not None:
            self.table[key] = self.default_factory()
        return self.table[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.table[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.table[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table)

    def keys(self) -> Any:
        return self.table.keys()

    def values(self) -> Any:
        return self.table.values()

    def items(self) -> Any:
        return self.table.items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.table.get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.table.pop(key, *default)

    def update(self, *args: Any, **named: Any) -> None:
        self.table.update(*args, **named)
