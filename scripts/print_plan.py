"""Print what a run will take. Nothing is started."""

from foldshift.jobs import run


def main(job):
    """Print the text."""
    print(f"\n{job.params.text}\n", flush=True)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
