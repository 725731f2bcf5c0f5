"""Rules made from what the studies declare (src/foldshift/studies/<id>/study.py).

Needs: prepared data sets, folds and scores of the engine, as the declarations say. Makes: the rows of every measure, every table and figure.
A rule is called <study>_<measure> or <study>_<items>. In archived mode rows are given, and only items are made.
"""

# Single tables and figures that the command names; a rule for each of all of them would only lengthen `--list`.
for NAME, FILES in SESSION.named_items().items():

    rule:
        """One table or figure, and what comes with it."""
        name:
            NAME
        input:
            FILES,
        localrule: True
        message:
            f"{NAME}: complete"


for RUN in RUNS.values():

    rule:
        """Tables and figures of one study."""
        name:
            RUN.id
        input:
            RUN.outputs(),
            ask.published_files(RUN),
            SESSION.report_pages(RUN),
            ask.kernels_stamp(),
            "<results>/provenance/config.yaml",
            "<results>/provenance/versions.json",
            f"<results>/provenance/datasets_{RUN.id}.json",
        localrule: True
        message:
            f"{RUN.found.title}: complete"

    for ITEMS, SOME in RUN.items():

        rule:
            name:
                SESSION.rule_of_items(RUN, ITEMS)
            input:
                **{
                    name: kept_here(paths)
                    for name, paths in ask.item_inputs(RUN, ITEMS).items()
                },
            output:
                [report_entry(RUN, item) for item in SOME],
                [
                    f"<results>/{{study}}/{path}"
                    for item in SOME
                    for path in item.files()[1:]
                ],
            log:
                f"<logs>/{{study}}/{ITEMS.name}.log",
            # One study only; as a wildcard it keeps the rule out of the list of targets.
            wildcard_constraints:
                study=RUN.id,
            localrule: ITEMS.local
            conda:
                "../../envs/foldshift.yaml"
            resources:
                mem_mb=memory(ITEMS.mb),
                runtime=minutes(60 + RUN.items_seconds(ITEMS)),
                expected_s=RUN.items_seconds(ITEMS),
            params:
                code=ask.code("make_items", [RUN.found.path(ITEMS.function)]),
                function=RUN.found.path(ITEMS.function),
                settings=RUN.words,
                arguments=ITEMS.params(RUN),
                units=list(RUN.units.members),
                shown=[item_words(item, item_key(item)) for item in SOME],
            message:
                RUN.rule_message(ITEMS.message)
            script:
                "../../scripts/make_items.py"

    if config["archived"]:
        continue

    rule:
        """All rows of one study: what its tables are made of."""
        # All that tables are made of: the target of `--batch`, which plans a part of the data sets at a time.
        name:
            f"{RUN.id}_rows"
        input:
            RUN.engine_rows(),
            RUN.measured(),
            ask.kernels_stamp(),
        localrule: True
        message:
            f"{RUN.found.title}: all rows"

    for MEASURE in RUN.measures():

        rule:
            name:
                f"{RUN.id}_{MEASURE.name}"
            input:
                unpack(ask.measure_inputs(RUN, MEASURE)),
            output:
                **{kind: RUN.file(path) for kind, path in MEASURE.rows.items()},
            log:
                f"<logs>/{RUN.id}/{MEASURE.name}/{MEASURE.cell_path}.log",
            benchmark:
                f"<benchmarks>/{RUN.id}/{MEASURE.name}/{MEASURE.cell_path}.tsv"
            wildcard_constraints:
                **{word: MEASURE.patterns.get(word, "[^/]+") for word in MEASURE.words},
            conda:
                "../../envs/foldshift.yaml"
            resources:
                mem_mb=memory(expected_mb(ask.measure_cost(RUN, MEASURE))),
                runtime=minutes(
                    ask.measure_cost(RUN, MEASURE),
                    ask.spare_minutes if MEASURE.limited else 10,
                ),
                expected_s=expected_seconds(ask.measure_cost(RUN, MEASURE)),
                writes_mb=written_mb(ask.measure_cost(RUN, MEASURE)),
                attempt=current_attempt,
            params:
                code=ask.measure_code(RUN, MEASURE),
                function=RUN.found.path(MEASURE.function),
                arguments=ask.measure_params(RUN, MEASURE),
                members=ask.measure_members(RUN, MEASURE),
                limited=MEASURE.limited,
                limits=limits,
            message:
                RUN.rule_message(MEASURE.message)
            script:
                "../../scripts/measure.py"
