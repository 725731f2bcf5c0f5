"""What differs between an archive and what is here: tables and figures that were made again, versions, code."""

from pathlib import Path

from foldshift.engine.archive.crate import content_of, workflow_files


def differing_outputs(archive, folder):
    """Compare tables and figures that were made again with the archived ones, byte for byte.

    Parameters
    ----------
    archive : foldshift.engine.archive.crate.Archive
        What was archived.
    folder : path-like
        Where they were made again: names as in the archive.

    Returns
    -------
    differences : dict of str to str
        ``differs``, ``was not made`` or ``is not in the archive``, by name. Empty if all are identical.
    """
    folder = Path(folder)
    differences = {}
    for name in archive.outputs:
        if not (folder / name).is_file():
            differences[name] = "was not made"
        elif content_of(folder / name) != archive.files[name]:
            differences[name] = "differs"
    for place in sorted({Path(name).parent for name in archive.outputs}):
        for made in sorted((folder / place).iterdir()) if (folder / place).is_dir() else ():
            name = made.relative_to(folder).as_posix()
            if made.is_file() and name not in archive.outputs and name not in archive.files:
                differences[name] = "is not in the archive"
    return differences


def differing_versions(ours, theirs):
    """Versions that are not those of an archive.

    Parameters
    ----------
    ours, theirs : dict
        Versions here and in the archive: ``foldshift``, ``python`` and ``packages``; see ``foldshift.core.versions``.

    Returns
    -------
    differences : list of str
        E.g. ``numpy 2.4.1 (archive: 2.3.0)``. Packages that are installed in one place only do not count: the workflow runs
        without them.
    """
    pairs = {key: (ours.get(key), theirs.get(key)) for key in ("foldshift", "python")}
    packages = ours.get("packages", {}), theirs.get("packages", {})
    pairs |= {name: (packages[0][name], packages[1][name]) for name in sorted(packages[0].keys() & packages[1].keys())}
    return [f"{name} {here} (archive: {there})" for name, (here, there) in pairs.items() if here != there]


def differing_code(archive, root):
    """Files of the workflow that are not those of an archive.

    Parameters
    ----------
    archive : foldshift.engine.archive.crate.Archive
        What was archived.
    root : path-like
        Folder of the workflow.

    Returns
    -------
    names : list of str
        Changed, added and removed files among rules, scripts and library.
    """
    places = ("Snakefile", "workflow/", "scripts/", "src/")
    here = {name: path for name, path in workflow_files(root).items() if name.startswith(places)}
    there = {name for name in archive.files if name.startswith(places)}
    changed = [name for name in here.keys() & there if content_of(here[name]) != archive.files[name]]
    return sorted([*changed, *(here.keys() ^ there)])
