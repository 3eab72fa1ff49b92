"""Comprehensions: loops that append to a list, with names of their own for their targets."""

from __future__ import annotations

import ast
from typing import Any

from pullback.frontend import library
from pullback.frontend.library import iteration
from pullback.frontend.loops import MAX_UNROLL, Loops
from pullback.frontend.refusals import refuse
from pullback.frontend.values import DictCell, IterValue, Known, ListCell, TupleValue, Value
from pullback.ir.nodes import Operand

MAX_DISPLAY = 8  # a comprehension over so few items of a range is a list display


class Comprehensions(Loops):
    """Lowers comprehensions and generator expressions."""

    def visit_ListComp(self, node: ast.ListComp) -> Value:
        """`[... for ...]`."""
        return self._comprehension(node.elt, node.generators, node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        """A generator expression that is consumed at once: its items, as a list."""
        if not getattr(node, "at_once", False):
            self.refuse(
                "a generator expression that is not consumed at once: it reads its names when it is run",
                "make a list of it: [... for ... in ...]",
                node,
            )
        return self._comprehension(node.elt, node.generators, node)

    def visit_SetComp(self, node: ast.SetComp) -> Value:
        """`{... for ...}` of compile-time objects."""
        return Known(frozenset(self.known(self._comprehension(node.elt, node.generators, node, unroll=True))))

    def visit_DictComp(self, node: ast.DictComp) -> Value:
        """`{key: value for ...}`: the keys are known at compile time, so its loops are unrolled."""
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        items = self.items_of(self._comprehension(pair, node.generators, node, unroll=True))
        if items is None:
            self.refuse(
                "a dict comprehension over a number of items known at run time only", "use a list", node
            )
        found: dict[Any, Value] = {}
        for item in items:
            assert isinstance(item, TupleValue)
            found[self.known(item.items[0])] = item.items[1]
        return self.new_cell(DictCell(found))

    def _comprehension(
        self, elt: ast.expr, generators: list[ast.comprehension], node: ast.expr, unroll: bool = False
    ) -> Value:
        frame = self.frame
        assert frame is not None and frame.stmt is not None
        out = f".items{next(self._numbers)}"
        first = iteration.needed(self, self.evaluate(generators[0].iter), "a comprehension")
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        keys = {frame.key(name) for name in targets}
        outer = {key: self.state.names.pop(key) for key in keys if key in self.state.names}
        shadow = {f".outer{next(self._numbers)}": value for value in outer.values()}
        frame.hidden.append({out, *targets, *shadow})
        self.state.names.update({frame.key(k): v for k, v in shadow.items()})
        self.state.names[frame.key(out)] = self.new_cell(ListCell(()))
        try:
            self._generate(elt, generators, out, node, unroll, first)
        finally:
            frame.hidden.pop()
        for key in keys:
            self.state.names.pop(key, None)
        for key, name in zip(outer, shadow, strict=True):
            self.state.names[key] = self.state.names.pop(frame.key(name))
        return self.state.names.pop(frame.key(out))

    def _generate(
        self,
        elt: ast.expr,
        generators: list[ast.comprehension],
        out: str,
        node: ast.expr,
        unroll: bool,
        it: IterValue | None = None,
    ) -> None:
        frame = self.frame
        assert frame is not None
        if not generators:
            item = self.evaluate(elt)
            library.method(self, self.state.names[frame.key(out)], "append", [item], {})
            return
        first, *rest = generators
        if first.is_async:
            refuse("async", self.place(node))
        it = it or iteration.needed(self, self.evaluate(first.iter), "a comprehension")
        loop = ast.copy_location(ast.For(first.target, first.iter, [], []), node)
        held = len(self.temps)

        def filtered(tests: list[ast.expr]) -> Value:
            if not tests:
                self._generate(elt, rest, out, node, unroll)
                return Known(None)
            return self.choose(self.evaluate(tests[0]), lambda: filtered(tests[1:]), lambda: Known(None))

        def body(item: Value) -> Operand | None:
            self.assign(first.target, item)
            filtered(first.ifs)
            del self.temps[held:]
            return None

        length = it.length if isinstance(it.length, int) else None
        if (
            length is not None
            and length <= MAX_UNROLL
            and (unroll or it.range_ is None or length <= MAX_DISPLAY)
        ):
            self._unroll(it, body, 0, length)
        else:
            self.for_loop(loop, it, body)
