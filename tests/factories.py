"""Things that the tests of several rooms need, made in one place."""

import ast
from pathlib import Path

import foldshift

PACKAGE = Path(foldshift.__file__).parent


def public_names(package):
    """Public names of a package of the library, to the module that each is defined in, as its stub says."""
    stub = PACKAGE / package / "__init__.pyi"
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}
