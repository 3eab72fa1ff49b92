"""Imports inside the package run one way, and never in a circle."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "pullback"

LAYERS = (  # lowest first: a module imports only from its own layer and from lower ones
    ("errors", "markers", "runtime"),
    ("styles", "ir"),
    ("rules",),
    ("frontend",),
    ("analysis",),
    ("passes",),
    ("transform",),  # prunes with the passes' liveness
    ("backend",),
    ("pipeline",),
    ("explain", "notebook"),
    ("dispatch",),
    ("api",),
    ("aot",),
    ("__init__",),
    ("bench",),
    ("cli",),
    ("__main__",),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path) -> set[str]:
    """The modules of the package that a module imports when it is itself imported."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        for node in ast.iter_child_nodes(pending.pop()):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pullback"):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= names & MODULES.keys() or {node.module}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name.startswith("pullback")}
            elif not isinstance(node, ast.FunctionDef) and "TYPE_CHECKING" not in ast.dump(node):
                pending.append(node)
    return {"pullback.__init__" if name == "pullback" else name for name in found}


GRAPH = {name: imports(path) for name, path in MODULES.items()}


def room(module: str) -> str:
    return module.split(".")[1]


@pytest.mark.parametrize("module", sorted(GRAPH))
def test_imports_only_lower_layers(module: str) -> None:
    upward = [name for name in sorted(GRAPH[module]) if RANK[room(name)] > RANK[room(module)]]
    assert not upward, f"{module} imports from a higher layer: {', '.join(upward)}"


def test_no_import_cycle() -> None:
    try:
        order = list(TopologicalSorter(GRAPH).static_order())
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")
    assert len(order) >= len(MODULES)


def test_every_room_has_a_layer() -> None:
    assert {room(name) for name in MODULES} <= RANK.keys()
