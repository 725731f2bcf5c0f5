"""In a watched run: note which modules every job asks for, and which files stand behind the digest of code in its parameters.

Python imports a module of this name by itself when it starts, if the folder is on its path. Lines are written at once, since the
children that jobs fork end without a farewell.
"""

import json
import os
import sys
from importlib.machinery import PathFinder

DIGESTS = "foldshift.engine.jobs.code_digest"


def note(line):
    file = os.open(os.environ["FOLDSHIFT_WATCH"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (json.dumps(line) + "\n").encode())
    os.close(file)


def noting_files(digest):
    """The function of the library, which also notes the files it was given."""

    def noted(files, *arguments):
        files = list(files)
        found = digest(files, *arguments)
        note({"digest": found, "files": [os.path.abspath(file) for file in files]})
        return found

    return noted


class Watch:
    """A finder that finds nothing, but for the module that makes digests of code."""

    def find_spec(self, name, path=None, target=None):
        job = getattr(sys.modules.get("__main__"), "snakemake", None)
        if job is not None and not name.startswith("snakemake"):  # the job's parameters are looked up with its help
            note({"rule": job.rule, "output": str(job.output[0]), "module": name, "code": job.params.get("code")})
        elif name == DIGESTS:
            spec = PathFinder.find_spec(name, path)
            run = spec.loader.exec_module

            def and_note(module):
                run(module)
                module.digest = noting_files(module.digest)

            spec.loader.exec_module = and_note
            return spec
        return None


if "FOLDSHIFT_WATCH" in os.environ:
    sys.meta_path.insert(0, Watch())
