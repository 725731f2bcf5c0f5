"""Fetch the reviews of products, or draw them from their model, and count their words."""

import json
import logging
from typing import Any

import numpy as np

from foldshift.core.files import write_text
from foldshift.core.seeding import generator
from foldshift.datasets.sources.review_files import fetch_review_file, review_files
from foldshift.datasets.sources.reviews import Reviews, bag_of_words, generate_reviews, parse_reviews, write_counts
from foldshift.engine.jobs.run_job import run

PER_DOMAIN = 2000  # generated reviews, as many as there are real ones


def fetched(job: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Counts of the real reviews, and where each file came from."""
    known, reviews, origins = review_files(), {}, []
    for domain in job.params.domains:
        parts = []
        for file in known[domain]:
            data, address = fetch_review_file(file, mirror=job.params.mirror, cache=job.params.cache)
            parts.append(parse_reviews(data, f"{domain}.{file.part}"))
            origins.append({"domain": domain, "part": file.part, "address": address, "sha256": file.sha256})
            logging.info("%s, %s: %d reviews from %s", domain, file.part, len(parts[-1].labels), address)
        texts = [text for part in parts for text in part.texts]
        reviews[domain] = Reviews(tuple(texts), np.concatenate([part.labels for part in parts]))
    return bag_of_words(reviews, n_features=job.params.n_features), origins


def main(job: Any) -> None:
    """Write the counts and their origin."""
    if job.wildcards.reviews == "amazon":
        counts, origins = fetched(job)
    else:
        rng = generator(job.params.master_seed, job.wildcards.study, "generated reviews")
        counts, origins = generate_reviews(len(job.params.domains), PER_DOMAIN, rng), []
    write_counts(job.output.counts, counts)
    origin = {
        "name": f"{job.wildcards.reviews} reviews",
        "source": "generated" if not origins else "reviews of products, see datasets/sources/reviews.tsv",
        "domains": list(counts.domains),
        "n_reviews": int(counts.X.shape[0]),
        "n_words": int(counts.X.shape[1]),
        "files": origins,
    }
    write_text(job.output.origin, json.dumps(origin, indent=2) + "\n")
    logging.info("%d reviews of %d domains, %d words", counts.X.shape[0], len(counts.domains), counts.X.shape[1])


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  # Snakemake puts it there
