"""Needs: a host of reviews, a mirror, or nothing (generated ones). Makes: counted words of the reviews, their origin."""


rule count_reviews:
    """Counted words of the reviews of a study."""
    output:
        counts="<resources>/reviews/{study}/{reviews}.npz",
        origin="<resources>/reviews/{study}/{reviews}.json",
    log:
        "<logs>/count_reviews/{study}/{reviews}.log",
    # Hosts fail for minutes at a time; the pauses within one attempt are shorter.
    retries: 1
    # Nodes of a cluster often lack the network.
    localrule: True
    conda:
        "../../../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(1500),
        runtime=minutes(120, spare=20),
        expected_s=lambda wildcards: 3 if wildcards.reviews == "generated" else 20,
    params:
        code=ask.code(RUNS["geras_2013"].found.folder / "count_reviews.py"),
        domains=lambda wildcards: config["studies"][wildcards.study]["domains"],
        n_features=lambda wildcards: config["studies"][wildcards.study]["n_features"],
        mirror=config["mirror"],
        cache=f"{config['resources']}/downloads",
        master_seed=config["master_seed"],
    message:
        "Counting the words of the reviews ({wildcards.reviews})"
    script:
        "count_reviews.py"
