"""The rule table as data and as text: `docs/rules.md` is `markdown()`, checked by a test.

python -m pullback.rules.listing > docs/rules.md
"""

from __future__ import annotations

import difflib
import inspect
from dataclasses import asdict, dataclass
from typing import Any

from pullback.errors import ArgumentError
from pullback.ir.nodes import Alias
from pullback.rules.kinds import BuilderRule, Generic, NonDifferentiable, OptOut, Row, Rule, Structured
from pullback.rules.registry import all_rules, op_of
from pullback.rules.tables import operations

_HEAD = """# Rules

Generated from the registry by `python -m pullback.rules.listing`; do not edit.

A *row* gives partials (the cotangent is multiplied by them); a *structured* rule is a function of NumPy code;
a *builder* emits IR.  "complex" says that a row is holomorphic, or that the rule is for complex operands.
"""


def markdown() -> str:
    """The table of all built-in rules."""
    rules = [r for r in all_rules() if r.origin.module.startswith("pullback.rules.")]
    lines = [_HEAD, "| function | kind | operands | derivative |", "|---|---|---|---|"]
    differentiable = [r for r in rules if not isinstance(r, NonDifferentiable | Generic)]
    lines += [_line(r) for r in sorted(differentiable, key=_order)]
    constant = sorted({r.name for r in rules if isinstance(r, NonDifferentiable)})
    lines += ["", "## Without derivative", "", *(f"- `{name}`" for name in constant), ""]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one function by one rule; `kind` "no rule" where a derivative through it is refused.

    hop         where the rule is found: "H0" to "H3" for elementwise functions, else "call"
    operands    the patterns that they must match; "" for any numbers
    derivative  of each operand the partial (rows), or what the rule says of itself
    options     the names of its parameters
    domain      where the generated tests look, an operand each
    forward     how it serves forward mode; "" where it does not
    alias       what an array result is: fresh, a view, ...
    origin      where the rule was defined
    """

    name: str
    kind: str
    hop: str = ""
    operands: str = ""
    derivative: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    domain: str = ""
    complex: str = ""
    forward: str = ""
    alias: str = ""
    origin: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def entries() -> list[Entry]:
    """Every rule for a function, by name; those of a user's and of third parties too."""
    rules = [r for r in all_rules() if not isinstance(r, Generic | OptOut)]
    return [_entry(rule) for rule in sorted(rules, key=_order)]


def find(name: str) -> list[Entry]:
    """The rules of the functions of a name (`np.linalg.inv`, or `inv`), or of a module (`np.linalg`).

    Raises ArgumentError, with near names.
    """
    name = name.replace("numpy.", "np.", 1) if name.startswith("numpy.") else name
    known = entries()
    covered = {entry.name for entry in known}
    known += [
        Entry(op.name, "no rule", alias=_alias(op.alias)) for _, op in operations() if op.name not in covered
    ]
    found = [e for e in known if e.name == name] or [e for e in known if e.name.rpartition(".")[2] == name]
    found = found or [e for e in known if e.name.startswith(f"{name}.") and e.kind != "no rule"]
    if not found:
        names = {e.name.rpartition(".")[2]: e.name for e in known} | {e.name: e.name for e in known}
        near = list(dict.fromkeys(names[n] for n in difflib.get_close_matches(name, names, 4, 0.6)))
        hint = (
            f"did you mean {', '.join(f'`{n}`' for n in near[:3])}?" if near else "`pullback rules` lists all"
        )
        raise ArgumentError(f"there is no rule for `{name}`", hint=hint)
    return list(dict.fromkeys(found))


def _entry(rule: Rule) -> Entry:
    op = op_of(rule.fn)
    return Entry(
        rule.name,
        "no derivative" if isinstance(rule, NonDifferentiable) else _kind(rule),
        rule.hop,
        ", ".join(str(p) for p in rule.when),
        _partials(rule),
        _parameters(rule),
        _domain(rule),
        "holomorphic" if isinstance(rule, Row) and rule.holomorphic else "",
        _forward(rule),
        _alias(op.alias) if op is not None else "",
        str(rule.origin),
    )


def _partials(rule: Rule) -> tuple[str, ...]:
    if isinstance(rule, Row):
        return tuple(f"d {rule.name} / d {name} = {text}" for name, text in rule.partials.items())
    text = _derivative(rule)
    return (text,) if text else ()


def _parameters(rule: Rule) -> tuple[str, ...]:
    if isinstance(rule, Row):
        return rule.params
    if isinstance(rule, Structured):
        return tuple(str(p) for p in rule.signature.parameters.values())
    try:
        return tuple(inspect.signature(rule.fn).parameters)
    except (TypeError, ValueError):
        return ()


def _domain(rule: Rule) -> str:
    if not isinstance(rule, Row):
        return ""
    return ", ".join(rule.domain) if isinstance(rule.domain, tuple) else str(rule.domain)


def _forward(rule: Rule) -> str:
    if isinstance(rule, Row):
        return "partials"
    linear = getattr(rule, "linear", ())
    if linear:
        return f"linear in {', '.join(linear)}"
    return "a function of its own" if getattr(rule, "forward", None) is not None else ""


_ALIASES = {
    "fresh": "fresh",
    "view": "a view of an operand",
    "maybe": "a view of an operand, or a copy",
    "same": "the operand itself, or fresh",
}


def _alias(alias: Any) -> str:
    return _ALIASES[alias.kind] if isinstance(alias, Alias) else "depends on the call"


def _order(rule: Rule) -> tuple[str, int]:
    return rule.name, rule.origin.line


def _line(rule: Rule) -> str:
    return f"| `{rule.name}` | {_kind(rule)} | {_operands(rule)} | {_derivative(rule)} |"


def _kind(rule: Rule) -> str:
    for cls, name in ((Row, "row"), (Structured, "structured"), (BuilderRule, "builder")):
        if isinstance(rule, cls):
            return name
    return type(rule).__name__.lower()


def _operands(rule: Rule) -> str:
    parts = [", ".join(str(p) for p in rule.when)] if rule.when else []
    if isinstance(rule, Row) and rule.holomorphic and not rule.when:
        parts.append("complex too")
    return "; ".join(parts)


def _derivative(rule: Rule) -> str:
    if isinstance(rule, Row):
        return "; ".join(f"{name}: `{text}`" for name, text in rule.partials.items())
    fn = (
        rule.pullback
        if isinstance(rule, Structured)
        else rule.build
        if isinstance(rule, BuilderRule)
        else None
    )
    return (getattr(fn, "__doc__", None) or "").strip().split("\n")[0]


if __name__ == "__main__":
    print(markdown(), end="")
