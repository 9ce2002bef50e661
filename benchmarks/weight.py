"""What the package weighs: statements, nodes of syntax, files, imports inside functions, names of one word, by room.

    python -m benchmarks.weight            # the table
    python -m benchmarks.weight --write    # tests/weight.csv, which tests/test_house.py lets go down only

A code line bears a token that is neither comment nor docstring (a text below an attribute is one), nor part of an
import. A packed place is one that `# fmt: skip` keeps from the formatter.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "weight.csv"
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Weight:
    """Counts of source files; they add up."""

    lines: int = 0
    statements: int = 0
    files: int = 0
    local_imports: int = 0
    packed: int = 0
    nodes: int = 0
    """Nodes of the syntax tree, without those of imports and docstrings and without load and store marks."""
    imports: int = 0
    short_imported: int = 0
    """Functions with a name of one word that another file imports by that name."""
    short_private: int = 0
    """Private functions at the top of a module with a name of one word."""
    private: int = 0
    """All private functions at the top of a module."""

    @property
    def density(self) -> float:
        """Nodes a statement, imports left out: rises where lines are made denser instead of fewer."""
        return self.nodes / (self.statements - self.imports)

    def __add__(self, other: Weight) -> Weight:
        return Weight(
            *(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True))
        )


def is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, or a text below an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def statements(tree: ast.AST) -> int:
    """The statements of a tree, nested ones with them, without docstrings."""
    return sum(isinstance(node, ast.stmt) and not is_text(node) for node in ast.walk(tree))


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]


def has_one_word(name: str) -> bool:
    return "_" not in name.strip("_")


def imported_names(package: Path) -> dict[str, set[str]]:
    """Module -> names that files of the package import from it."""
    names: dict[str, set[str]] = defaultdict(set)
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names[node.module or ""] |= {each.name for each in node.names}
    return names


def imported_from(file: Path, package: Path, names: Mapping[str, set[str]]) -> set[str]:
    """Names of a file that others import, from it or from a package around it that hands them on."""
    parts = file.relative_to(package.parent).with_suffix("").parts
    modules = {".".join(parts[:count]) for count in range(2, len(parts) + 1)}
    return {name for module in modules for name in names.get(module, ())}


def weigh(source: str, imported: Collection[str] = ()) -> Weight:
    """The weight of one file.

    :param imported: names of it that other files import
    """
    tree = ast.parse(source)
    top = [node.name for node in tree.body if isinstance(node, FUNCTIONS)]
    private = [name for name in top if name.startswith("_") and not name.startswith("__")]
    silent = {
        line
        for node in ast.walk(tree)
        if isinstance(node, IMPORTS) or is_text(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    bearing = {
        line
        for token in tokens
        if token.type not in SILENT
        for line in range(token.start[0], token.end[0] + 1)
    }
    bearing.discard(len(source.splitlines()) + 1)  # the end marker's
    inner = {
        id(node) for each in functions(tree) for node in ast.walk(each) if isinstance(node, IMPORTS)
    }
    left_out = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, IMPORTS) or is_text(node)
        for part in ast.walk(node)
    }
    return Weight(
        lines=len(bearing - silent),
        statements=statements(tree),
        files=1,
        local_imports=len(inner),
        packed=sum(
            token.type == tokenize.COMMENT and "fmt: skip" in token.string for token in tokens
        ),
        nodes=sum(
            id(node) not in left_out and not isinstance(node, ast.expr_context | ast.Module)
            for node in ast.walk(tree)
        ),
        imports=sum(isinstance(node, IMPORTS) for node in ast.walk(tree)),
        short_imported=sum(has_one_word(name) for name in top if name in imported),
        short_private=sum(map(has_one_word, private)),
        private=len(private),
    )


def room_of(file: Path) -> str:
    """The room of a file of the package: its first folder, or `extensions/NAME`."""
    parts = file.parts[:-1]
    if parts[:1] == ("extensions",):
        return "/".join((*parts[:2], *([] if parts[1:] else ["__init__"])))
    return "/".join(parts[:1]) or "blurb"


def by_room(package: Path) -> dict[str, Weight]:
    rooms: dict[str, Weight] = defaultdict(Weight)
    names = imported_names(package)
    for file in sorted(package.rglob("*.py")):
        imported = imported_from(file, package, names)
        rooms[room_of(file.relative_to(package))] += weigh(
            file.read_text(encoding="utf-8"), imported
        )
    return dict(rooms)


def total(weights: Iterable[Weight]) -> Weight:
    return sum(weights, Weight())


def table(root: Path = ROOT) -> dict[str, Weight]:
    """The weight of each room of `blurb/`, of core, extensions and both, and of the tests and the benchmarks."""
    rooms = by_room(root / "blurb")
    extensions = total(weight for room, weight in rooms.items() if room.startswith("extensions"))
    everything = total(rooms.values())
    core = total(weight for room, weight in rooms.items() if not room.startswith("extensions"))
    around = {
        folder: total(
            weigh(file.read_text(encoding="utf-8")) for file in (root / folder).rglob("*.py")
        )
        for folder in ("tests", "benchmarks")
    }
    return {"core": core, "extensions": extensions, "all": everything, **around, **rooms}


def committed() -> dict[str, Weight]:
    """The table that holds."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {room: Weight(*map(int, cells)) for room, *cells in list(csv.reader(file))[1:]}


def rows(weights: dict[str, Weight]) -> Iterator[list[str]]:
    yield ["room", *(field.name for field in fields(Weight))]
    for room, weight in weights.items():
        yield [room, *map(str, astuple(weight))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    options = parser.parse_args()
    weights = table()
    if options.write:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows(weights))
    for row in rows(weights):
        print(f"{row[0]:<22}" + "".join(f"{cell:>15}" for cell in row[1:]))
    print(f"nodes a statement: {weights['all'].density:.2f}")


if __name__ == "__main__":
    main()
