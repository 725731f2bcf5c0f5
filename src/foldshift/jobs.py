"""Run a script's `main` as one job of the workflow: a log, and a plain line instead of a traceback for a user's mistake."""

import logging
import sys
import time

from foldshift.errors import FoldshiftError


def run(main, job):
    """Call ``main(job)`` with a log file; a `FoldshiftError` ends the job with its one line.

    Parameters
    ----------
    main : callable
        The script's function.
    job : object
        Snakemake's job: ``input``, ``output``, ``params``, ``wildcards``, ``log``, ``threads``.
    """
    handlers = [logging.StreamHandler(sys.stderr)]
    if job.log:
        handlers.append(logging.FileHandler(job.log[0], mode="w", encoding="utf-8"))
    handlers[0].setLevel(logging.ERROR)
    logging.basicConfig(level=logging.INFO, handlers=handlers, format="%(asctime)s %(message)s", force=True)
    start = time.perf_counter()
    try:
        main(job)
    except FoldshiftError as error:
        logging.error("foldshift: %s", error)
        raise SystemExit(1) from None
    except Exception:
        logging.exception("foldshift: this is a fault of the program; please report it with this log")
        raise SystemExit(1) from None
    logging.info("done in %.1f s", time.perf_counter() - start)
