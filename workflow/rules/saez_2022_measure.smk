"""Needs: prepared regression data sets and folds. Makes: the rows of the scaling check. Not part of archived mode."""


rule saez_2022_rows:
    # All that tables are made of: the target of `--batch`, which plans a part of the data sets at a time.
    input:
        [
            f"<results>/saez_2022/{kind}"
            for name in SAEZ["datasets"]
            for kind in (
                f"seed_scores/{name}.parquet",
                f"seed_shift/{name}.parquet",
            )
        ],
        [
            f"<results>/saez_2022/scaling/{name}.csv"
            for name in SAEZ["datasets"]
            if SAEZ_CHECK["n_seeds"]
        ],
    localrule: True
    message:
        "All rows of the regression study"


def of_scaling_check(cell):
    """Whether a cell is looked at by the scaling check: it cuts at random or stratifies wholly, with its number of folds."""
    return cell.partitioner in ("CV", "TSCV") and cell.k == SAEZ_CHECK_K


rule saez_compare_scaling:
    # The first seeds of the folds that exist anyway; the learners see scaled and raw data cut alike.
    input:
        scaled="<resources>/prepared/global/{dataset}.npz",
        raw="<resources>/prepared/fold/{dataset}.npz",
        folds=folds_of_dataset(of_scaling_check, SAEZ_CHECK["n_seeds"]),
        code=code(
            "compare_scaling", [LEARNERS[name]["import"] for name in SAEZ["learners"]]
        ),
    output:
        rows="<results>/{study}/scaling/{dataset}.csv",
    log:
        "<logs>/{study}/scaling/{dataset}.log",
    wildcard_constraints:
        study="saez_2022",
    conda:
        "../../envs/foldshift.yaml"
    resources:
        mem_mb=memory(planned_mb("saez_compare_scaling")),
        runtime=minutes(planned_seconds("saez_compare_scaling"), SPARE_MINUTES),
    params:
        learners={name: LEARNERS[name] for name in SAEZ["learners"]},
        partitioners=("CV", "TSCV"),
        wanted=wanted_folds(of_scaling_check, SAEZ_CHECK["n_seeds"]),
        k=SAEZ_CHECK_K,
        n_seeds=SAEZ_CHECK["n_seeds"],
        master_seed=config["master_seed"],
        limits=limits,
    message:
        "Scaling on the whole set against scaling per fold: {wildcards.dataset}"
    script:
        "../../scripts/compare_scaling.py"
