"""Whether a file is Python that defines a function, without running any of it: path and name are the arguments, a JSON object the answer."""
import ast, json, sys

path, entry = sys.argv[1:3]


def names(body):
    """Names that the statements of a module may bind; "*": any."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for one in ast.walk(target):
                    if isinstance(one, ast.Name):
                        yield one.id
        else:
            for part in ("body", "orelse", "finalbody", "handlers"):
                for inner in getattr(node, part, []):
                    yield from names(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def problem():
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    found = set(names(tree.body))
    if entry in found or "*" in found:
        return None
    return f"it defines no function {entry}"


print(json.dumps({"problem": problem()}))
