"""Gate for what callers hand over: one module per kind of argument, checked once at the border and never again inside.

- `arrays`: any array-like as an array, with its mask: masked arrays, frames, nullable types, lists
- `numbers`: numbers as float64, NaN where missing; counts; right or wrong, as 1 or 0
- `targets`: targets, classes and groups, without missing values
- `categorical`: masks of the columns that hold categories
- `folds`: arrays of folds, -1 for rows that no fold tests
- `rows`: labels of rows, which decide what belongs together
"""
