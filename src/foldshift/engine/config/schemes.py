"""Schemes of cross-validation in the notation "5x2": five folds iterated twice; an experiment is one such set of partitions."""

from foldshift.core.errors import ConfigError


def iterations(schemes):
    """Iterations of every number of folds.

    Parameters
    ----------
    schemes : sequence of str
        Such as ``["2x5", "5x2", "10x1"]``: folds x iterations.

    Returns
    -------
    iterations : dict of int to int
        Number of folds k to partitions per experiment, in the order given.
    """
    pairs = [scheme.split("x") for scheme in schemes]
    return {int(k): int(r) for k, r in pairs}


def choose_schemes(study, settings):
    """Reduce the schemes of a study to the numbers of folds that were asked for, and note these numbers.

    Parameters
    ----------
    study : str
        Id of the study, for messages.
    settings : dict
        Its settings, changed in place: ``schemes``, ``n_folds``.

    Raises
    ------
    ConfigError
        If two schemes have the same number of folds, a scheme has fewer than two, or a number of folds has no scheme.
    """
    known = iterations(settings["schemes"])
    if len(known) < len(settings["schemes"]):
        raise ConfigError(f"{study}.schemes={settings['schemes']!r} must not repeat a number of folds")
    if min(known) < 2:
        raise ConfigError(f"{study}.schemes={settings['schemes']!r} must have at least two folds, e.g. 5x2")
    for k in settings.setdefault("n_folds", list(known)):
        if k not in known:
            raise ConfigError(
                f"{study}.n_folds: k={k} has no scheme; allowed: {', '.join(map(str, known))}, or add {k}x1 to schemes"
            )
    settings["schemes"] = [f"{k}x{r}" for k, r in known.items() if k in settings["n_folds"]]
    settings["n_folds"] = list(iterations(settings["schemes"]))
