"""Layout of the work: bundles, blocks of seeds, file names, reuse of results."""
