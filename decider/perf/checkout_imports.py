"""Which folder a package is imported from, whatever else is installed.

The asv environment copies this file as `sitecustomize.py` in front of every process that measures
a commit, so it knows the standard library only: no asv, no decider.

`PYTHONPATH` alone would not do. An editable install leaves a finder that also answers for
`decider.something` where the commit on `PYTHONPATH` has no such module, and the older commit would
silently run the newer module of the working tree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType


class CheckoutFinder:
    """Finds each package of `roots`, and all that is below it, in its own folder or nowhere.

    Args:
        roots: the folder that holds a top-level package, by the package's name.
    """

    def __init__(self, roots: Mapping[str, str]) -> None:
        self.roots = dict(roots)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The module's spec, or None for a module that is not below `roots`.

        Raises:
            ModuleNotFoundError: the folder has no such module. Answering None instead would let
                the finders behind this one look for it elsewhere.
        """
        root = self.roots.get(fullname.partition(".")[0])
        if root is None:
            return None
        spec = PathFinder.find_spec(fullname, [root] if path is None else path, target)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {fullname!r} in {root}", name=fullname)
        return spec


def install(roots: Mapping[str, str], folder: str) -> None:
    """Put a `CheckoutFinder` in front of every other finder of this process.

    Args:
        roots: as `CheckoutFinder` takes them.
        folder: where the copy of this file lies. The `sitecustomize` that it hides, if there is
            one, is run first, so that nothing it installs gets in front.
    """
    try:
        _run_hidden_sitecustomize(folder)
    finally:
        sys.meta_path.insert(0, CheckoutFinder(roots))


def _run_hidden_sitecustomize(folder: str) -> None:
    spec = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if entry != folder])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))
