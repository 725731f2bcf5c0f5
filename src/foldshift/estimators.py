"""What is done to any scikit-learn estimator."""

from sklearn.base import clone


def clone_with_state(estimator, random_state=None):
    """A clone whose `random_state`, and that of the estimators inside it, is set where it is None."""
    model = clone(estimator)
    if random_state is not None:
        open_states = [
            name for name, value in model.get_params().items() if name.split("__")[-1] == "random_state" and value is None
        ]
        model.set_params(**dict.fromkeys(open_states, int(random_state)))
    return model
