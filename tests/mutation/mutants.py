"""Mutants: the source of a module with one operator, constant, call or order changed."""

import ast
import copy
from collections.abc import Iterator

PAIRS = [(ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or)]
PAIRS += [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Add, ast.Sub), (ast.Mult, ast.Div)]
PAIRS += [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all")]
SWAPS = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
SWAPS |= {ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
TYPES = {"annotation", "returns", "decorator_list"}
UNSEEN = {"strict", "repr", "slots", "dtype", "stacklevel"}  # keywords without effect on results
Mutant = tuple[str, int, str, bytes]  # path, line, "old -> new", changed source


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of a module."""
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    for node, new in walk(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        change = " ".join(f"{source[start:end].decode()} -> {new}".split())
        yield path, node.lineno, change, source[:start] + new.encode() + source[end:]


def walk(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield nodes with their replacements; types and messages stay as they are."""
    typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    if typing or isinstance(node, ast.JoinedStr | ast.Raise) or getattr(node, "arg", "") in UNSEEN:
        return
    for new in changes(node):
        yield node, new if isinstance(node, ast.stmt | ast.Slice) else f"({new})"
    for name, value in ast.iter_fields(node):
        for child in [] if name in TYPES else value if isinstance(value, list) else [value]:
            yield from walk(child) if isinstance(child, ast.AST) else ()


def changes(node: ast.AST) -> Iterator[str]:
    def changed(**fields: object) -> str:
        other = copy.copy(node)
        vars(other).update(fields)
        return ast.unparse(other)

    match node:
        case ast.Compare(ops=[op, *rest]):
            for table in (SWAPS, NEGATED):
                if type(op) in table:
                    yield changed(ops=[table[type(op)](), *rest])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in SWAPS:
            yield changed(op=SWAPS[type(op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield ast.unparse(operand)
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in SWAPS:
            yield changed(**{"id" if isinstance(node, ast.Name) else "attr": SWAPS[name]})
        case ast.Constant(value=bool() as value):
            yield repr(not value)
        case ast.Constant(value=int() | float() as value):
            yield repr(value + 1 if isinstance(value, int) else 2 * value or 1.0)
        case ast.Return(value=ast.Tuple(elts=[first, second, *rest])):
            yield f"return {', '.join(map(ast.unparse, (second, first, *rest)))}"
        case ast.IfExp(body=body, orelse=orelse):
            yield changed(body=orelse, orelse=body)
        case ast.Slice(lower=lower, upper=upper):
            for name, end, sign in (("lower", lower, ast.Add()), ("upper", upper, ast.Sub())):
                if end:
                    yield changed(**{name: ast.BinOp(end, sign, ast.Constant(1))})
