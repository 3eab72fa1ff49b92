"""The rule table as text: `docs/rules.md` is `markdown()`, checked by a test.

python -m pullback.rules.listing > docs/rules.md
"""

from __future__ import annotations

from pullback.rules.kinds import BuilderRule, Generic, NonDifferentiable, Row, Rule, Structured
from pullback.rules.registry import all_rules

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
