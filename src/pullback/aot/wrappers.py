"""The public functions of a module: they check the arguments and call the private ones.

In: a Unit, the names of what serves it.  Out: text, a function each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pullback.aot.checks import Checks
from pullback.aot.hints import Axes, Hints, default_text, describe
from pullback.aot.natives import LibraryCall
from pullback.aot.text import INDENT, docstring, paragraph
from pullback.aot.trees import arrays, below, is_object, packs
from pullback.aot.units import Unit
from pullback.backend.numpy.wrap import quoted, wrapped
from pullback.ir.nodes import Const, Operand, Pack
from pullback.ir.walk import variables
from pullback.styles.style import Array, kind

P = inspect.Parameter
_LAST: dict[Any, str] = {
    P.POSITIONAL_ONLY: "positional",
    P.VAR_POSITIONAL: "star",
    P.KEYWORD_ONLY: "keyword",
}


@dataclass(frozen=True, slots=True)
class Served:
    """The names of what serves a unit: private functions, constants.

    joint, primal, pullback  with their guarded forms; "" where there is none
    outside                  the constants, in the order of the implicit parameters
    """

    joint: str = ""
    joint_guarded: str = ""
    primal: str = ""
    pullback: str = ""
    pullback_guarded: str = ""
    outside: tuple[str, ...] = ()


@dataclass(slots=True)
class Wrappers:
    """Writes the public functions of a unit.  `library`: how C does it, if it does."""

    unit: Unit
    served: Served
    use: Callable[[str], str]
    reference: Callable[[Any], str]
    hints: Hints
    parameters: Mapping[str, inspect.Parameter]
    library: LibraryCall | None = None

    @property
    def axes(self) -> Axes:
        """The named axes."""
        return Axes(self.unit.entry.declared)

    # --------------------------------------------------------------------------------------------- functions

    def value_and_grad(self) -> str:
        """`loss_value_and_grad`."""
        unit, value = self.unit, self.local("value")
        grads = self.local("grads")
        body = self._checked("value_and_grad")
        body += self._by_library("{value}, {grads}")
        body += self._gradient(value, grads)
        body.append(f"return {value}, {grads}")
        hint = f"tuple[{self.hints.operand(unit.result)}, {self._gradient_hint()}]"
        doc = f"Value of {unit.place} and its gradient with respect to {self._wanted()}."
        returns = f"the value{self._aux()} ({self._said(unit.result)}) and the gradient{self._plural()} {self._like()}"
        return self._function("value_and_grad", hint, doc, returns, body)

    def grad(self) -> str:
        """`loss_grad`."""
        unit, grads = self.unit, self.local("grads")
        unused = self.served.joint and unit.proved and not unit.entry.has_aux
        value = "_" if unused else self.local("value")
        body = self._checked("grad")
        body += self._by_library("{grads}, ({value})[1]" if unit.entry.has_aux else "{grads}")
        body += self._gradient(value, grads)
        hint, returns = self._gradient_hint(), f"the gradient{self._plural()} {self._like()}"
        if unit.entry.has_aux:
            hint = f"tuple[{hint}, {self.hints.operand(self._part_of_result(1))}]"
            returns += ", and what the function returns beside its value"
            body.append(f"return {grads}, {value}[1]")
        else:
            body.append(f"return {grads}")
        doc = f"Gradient of {unit.place} with respect to {self._wanted()}."
        return self._function("grad", hint, doc, returns, body)

    def primal(self) -> str:
        """`loss_primal`."""
        unit, value, residuals = self.unit, self.local("value"), self.local("residuals")
        body = self._checked("primal")
        body.append(f"{value}, {residuals} = {self.served.primal}({self._arguments()})")
        body.append(f"return {value}, ({self._template(value)}, {residuals})")
        hint = f"tuple[{self.hints.operand(unit.result)}, Any]"
        doc = f"Value of {unit.place} and what `{unit.label}_pullback` needs."
        returns = (
            f"the value{self._aux()} ({self._said(unit.result)}) and the residuals, which may be pulled back "
            "any number of times"
        )
        return self._function("primal", hint, doc, returns, body)

    def pullback(self) -> str:
        """`loss_pullback`."""
        doc = f"The cotangents of {self._wanted()}, for the cotangent of the value of {self.unit.place}."
        head = [
            f"def {self.unit.label}_pullback(",
            "    residuals: Any,",
            "    value_bar: Any,",
            *self._end(self._gradient_hint()),
        ]
        said = [
            *paragraph(doc),
            "",
            "Arguments:",
            f"    residuals: from `{self.unit.label}_primal`",
            "    value_bar: of the structure and the shapes of the value",
            "",
            *paragraph(f"Returns the cotangents {self._like()}."),
            "",
            "Raises TypeError or ValueError for a cotangent that does not fit the value.",
        ]
        body = self._pull("saved", "value_bar", "template", "bars")
        lines = ["template, saved = residuals", *body, "return bars"]
        return "\n".join([*head, *docstring(said, INDENT), _wrapped([INDENT + line for line in lines])])

    def vjp(self) -> str:
        """`loss_vjp`."""
        unit, value, residuals = self.unit, self.local("value"), self.local("residuals")
        template, pullback = self.local("template"), self.local("pullback")
        hint = self._gradient_hint()
        body = self._checked("vjp")
        body.append(f"{value}, {residuals} = {self.served.primal}({self._arguments()})")
        body += [
            f"{template} = {self._template(value)}",
            "",
            f"def {pullback}(value_bar: Any) -> {hint}:",
            *[INDENT + line for line in self._pull(residuals, "value_bar", template, "bars")],
            "    return bars",
            "",
            f"return {value}, {pullback}",
        ]
        doc = f"Value of {unit.place} and its pullback with respect to {self._wanted()}."
        returns = (
            f"the value{self._aux()} ({self._said(unit.result)}) and a function from a cotangent of the value "
            f"to the cotangents {self._like()}; it may be called any number of times"
        )
        whole = f"tuple[{self.hints.operand(unit.result)}, Callable[[Any], {hint}]]"
        return self._function("vjp", whole, doc, returns, body)

    # ------------------------------------------------------------------------------------------------- bodies

    def _gradient(self, value: str, grads: str) -> list[str]:
        """Value and gradient, by the joint function or by the pair."""
        served, given = self.served, self._arguments()
        if served.joint:
            body = [f"{value}, {grads} = {served.joint}({given})"]
            body += self._proof(value)
            if served.joint_guarded:
                body += [
                    f"if not {self.use('_finite')}({self._leaves(grads)}):",
                    '    with np.errstate(all="ignore"):',
                    f"        {value}, {grads} = {served.joint_guarded}({given})",
                ]
            return body
        residuals, seed = self.local("residuals"), self.local("value_bar")
        differentiated = f"{value}[0]" if self.unit.entry.has_aux else value
        body = [f"{value}, {residuals} = {served.primal}({given})", *self._proof(value)]
        body.append(f"{seed} = {self.use('_one')}({differentiated})")
        return [*body, *self._swept(residuals, seed, grads)]

    def _by_library(self, result: str) -> list[str]:
        """What the library gives, where it is there and takes the call."""
        if self.library is None:
            return []
        found = self.local("native")
        value, grads = self.library.results(found, self.reference, self.use)
        return [
            f"{found} = {self.library.text}",
            f"if {found} is not None:",
            f"    return {result.format(value=value, grads=grads)}",
        ]

    def _proof(self, value: str) -> list[str]:
        """The check that the value is a real scalar, where its style does not prove it."""
        if self.unit.proved:
            return []
        differentiated = f"{value}[0]" if self.unit.entry.has_aux else value
        return [f'{self.use("_scalar_value")}("{self.unit.compiled.name}", {differentiated})']

    def _template(self, value: str) -> str:
        """What a cotangent of the value must look like."""
        result = self.unit.result
        if self.unit.entry.has_aux:
            result, value = self._part_of_result(0), f"{value}[0]"
        classes = dict.fromkeys(self.reference(p.meta[0]) for p in packs(result) if is_object(p))
        return f"{self.use('_template')}({', '.join([value, *classes])})"

    def _part_of_result(self, i: int) -> Operand:
        """The value, or what is beside it; of a function that always raises there is neither."""
        result = self.unit.result
        return result.items[i] if isinstance(result, Pack) else result

    def _pull(self, residuals: str, bar: str, template: str, bars: str) -> list[str]:
        return [f"{bar} = {self.use('_seed')}({template}, {bar})", *self._swept(residuals, bar, bars)]

    def _swept(self, residuals: str, bar: str, bars: str) -> list[str]:
        served = self.served
        lines = [f"{bars} = {served.pullback}({residuals}, {bar})"]
        if served.pullback_guarded:
            lines += [
                f"if not {self.use('_finite')}({self._leaves(bars)}):",
                f"    {bars} = {served.pullback_guarded}({residuals}, {bar})",
            ]
        return lines

    def _leaves(self, bars: str) -> str:
        """What is looked at for numbers that are not finite: objects are opened."""
        found: list[str] = []

        def visit(operand: Operand, at: str) -> None:
            if isinstance(operand, Pack) and any(is_object(x) for x in packs(operand)):
                for i, item in enumerate(operand.items):
                    visit(item, below(operand, i, at))
            elif variables(operand):
                found.append(at)

        visit(self._gradient_tree(), bars)
        return ", ".join(found)

    def _gradient_tree(self) -> Operand:
        kind = "joint" if self.served.joint else "pair"
        return self.unit.made(kind)[-1].results[-1]

    def _gradient_hint(self) -> str:
        kind = "joint" if self.unit.joint and self.served.joint else "pair"
        return self.hints.operand(self.unit.made(kind)[-1].results[-1])

    # ------------------------------------------------------------------------------------------------- checks

    def _checked(self, form: str) -> list[str]:
        """The checks of the arguments."""
        name, unit = f"{self.unit.label}_{form}", self.unit
        checks = Checks(name, self.axes, self.use, self.reference, unit.of_class, not unit.narrow)
        for parameter, spec in unit.specs:
            checks.parameter(parameter, spec)
        checks.lengths()
        lines = [line.removeprefix(INDENT) for line in checks.lines]
        return lines + self._overlaps(name)

    def _overlaps(self, function: str) -> list[str]:
        """A parameter that the function writes shares memory with no other array."""
        written = self.unit.compiled.lowered.written
        users = self.unit.params[: len(self.unit.specs)]
        found = [(p.name, at) for p in users for at in arrays(p.tree, p.name)]
        lines = []
        for k, (ours, a) in enumerate(found):
            for m, (theirs, b) in enumerate(found):
                if k != m and ours in written and (m > k or theirs not in written):
                    lines.append(
                        f'{self.use("_no_overlap")}("{function}", {quoted(a)}, {a}, {quoted(b)}, {b})'
                    )
        return lines

    # ---------------------------------------------------------------------------------------- text of a function

    def local(self, name: str) -> str:
        """A name that no parameter has."""
        names = {n for n, _ in self.unit.specs}
        made, n = name, 1
        while made in names:
            n += 1
            made = f"{name}_{n}"
        return made

    def _arguments(self) -> str:
        return ", ".join([*(name for name, _ in self.unit.specs), *self.served.outside])

    def _function(self, form: str, hint: str, doc: str, returns: str, body: list[str]) -> str:
        head = f"def {self.unit.label}_{form}("
        parameters = self._header()
        lines = (
            [head, *parameters, *self._end(hint)]
            if parameters
            else [f"def {self.unit.label}_{form}() -> {hint}:"]
        )
        said = [*paragraph(doc), "", *self._said_of_arguments(), *paragraph(f"Returns {returns}."), ""]
        said += paragraph(
            "Raises TypeError for arguments of other types, ValueError for other values and lengths."
        )
        return "\n".join(
            [_wrapped(lines), *docstring(said, INDENT), _wrapped([f"{INDENT}{x}" if x else "" for x in body])]
        )

    def _header(self) -> list[str]:
        """The parameters, one a line."""
        lines: list[str] = []
        last = ""
        parameters = [self.parameters[name] for name, _ in self.unit.specs]
        defaults = self._defaults()
        for parameter, (name, spec) in zip(parameters, self.unit.specs, strict=True):
            if last == "positional" and parameter.kind is not P.POSITIONAL_ONLY:
                lines.append("    /,")
            if parameter.kind is P.KEYWORD_ONLY and last not in ("star", "keyword"):
                lines.append("    *,")
            last = _LAST.get(parameter.kind, "")
            if parameter.kind in (P.VAR_POSITIONAL, P.VAR_KEYWORD):
                star = "*" if parameter.kind is P.VAR_POSITIONAL else "**"
                lines.append(f"    {star}{name}: Any,")
            else:
                given = defaults.get(name)
                lines.append(f"    {name}: {self.hints.spec(spec)}{f' = {given}' if given else ''},")
        if last == "positional":
            lines.append("    /,")
        return lines

    def _defaults(self) -> dict[str, str]:
        """The defaults that are literals; by position none may stand before a parameter without one."""
        found: dict[str, str] = {}
        for name, spec in reversed(self.unit.specs):
            parameter = self.parameters[name]
            text = (
                None
                if parameter.default is P.empty
                else default_text(spec, parameter.default, self.reference)
            )
            if text is not None:
                found[name] = text
            elif parameter.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD):
                break
        return found

    def _end(self, hint: str) -> list[str]:
        """The end of a header."""
        if len(hint) <= 80:
            return [f") -> {hint}:"]
        first, *rest = wrapped(f"x = {hint}".replace("x = ", "_ = ", 1))
        return (
            [") -> " + first.removeprefix("_ = "), *rest[:-1], rest[-1] + ":"] if rest else [f") -> {hint}:"]
        )

    def _said_of_arguments(self) -> list[str]:
        kept, lines = self._defaults(), []
        for name, spec in self.unit.specs:
            lost = self.parameters[name].default is not P.empty and name not in kept
            said = f"{name}: {describe(spec, self.axes)}{'; it has no default here' if lost else ''}"
            lines += paragraph(said, INDENT, INDENT)
        return ["Arguments:", *lines, ""] if lines else []

    def _said(self, operand: Operand) -> str:
        """What a result is."""
        if isinstance(operand, Pack):
            return f"a {operand.meta[0].__name__ if operand.kind == 'new' else operand.kind}"
        if isinstance(operand, Const):
            return repr(operand.value)
        style = operand.style
        if isinstance(style, Array) and style.axes is not None and style.dtype is not None:
            return (
                f"{style.dtype.name}, {len(style.axes)} axes"
                if len(style.axes) != 1
                else f"{style.dtype.name}, one axis"
            )
        text = describe(style, self.axes)
        return (
            text if text != "anything" else {"f": "a number", "c": "a number"}.get(kind(style), "any object")
        )

    def _aux(self) -> str:
        return " with what the function returns beside it" if self.unit.entry.has_aux else ""

    def _wanted(self) -> str:
        names = []
        for path in self.unit.request.wrt:
            names.append(f"`{self.unit.params[path[0]].name}{''.join(f'[{i}]' for i in path[1:])}`")
        return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else "nothing"

    def _several(self) -> bool:
        return len(self.unit.request.wrt) > 1 or not self.unit.request.single

    def _plural(self) -> str:
        return "s" * self._several()

    def _like(self) -> str:
        return (
            "of these arguments, a tuple, each in the type and shape of its argument"
            if self._several()
            else "in the type and shape of that argument"
        )


def _wrapped(lines: list[str]) -> str:
    return "\n".join(line for text in lines for line in wrapped(text))
