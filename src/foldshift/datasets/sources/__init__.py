"""Sources of data sets: mirror, KEEL, UCI, OpenML, product reviews."""
