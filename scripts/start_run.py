"""Start Snakemake as its own command does, with Ctrl-C heard from the first moment on: for the targets of the Makefile."""

import sys

from foldshift.engine.rules.stopping import STOPPING


def main() -> None:
    """Run Snakemake with the arguments of this script."""
    sys.argv[0] = "snakemake"
    STOPPING.listen(sys.argv)
    from snakemake.cli import main as snakemake

    snakemake(sys.argv[1:])


if __name__ == "__main__":
    main()
