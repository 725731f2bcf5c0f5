"""Times and coordinates of rows: one type, finite, nothing missing."""

from __future__ import annotations

import datetime
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.core.gate.arrays import as_array, missing
from foldshift.core.gate.targets import check_no_name, numbers_if_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldshift.core.types import Array, BoolArray, FloatArray, TableLike

N_COORDINATES = (2, 3)
DEGREES = {"latitude": ("lat", "latitude"), "longitude": ("lon", "lng", "long", "longitude")}
LEAST_RATIO = 0.95  # of a degree of longitude by one of latitude, that is let pass: 18 degrees from the equator


def time_values(times: TableLike, n_samples: int, name: str = "times") -> Array:
    """Convert the time of every sample to datetime64, timedelta64, int64 or float64; refuse missing times and text."""
    check_no_name(times, name)
    array = _without_zone(times, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_samples,):
        raise ValueError(f"{name} have shape {array.shape}; expected (n_samples,) = {(n_samples,)}, one time for each sample")
    _check_all_present(missing(array), name, "time")
    array = _dates_if_all(numbers_if_all(array), name)
    if array.dtype.kind in "mM":
        return array
    return _finite_numbers(array, name, "; make dates of text: pandas.to_datetime(...)")


def coordinate_table(coordinates: TableLike, n_samples: int, name: str = "coordinates") -> FloatArray:
    """Convert the coordinates of every sample to float64, shape (n_samples, 2) or (n_samples, 3)."""
    check_no_name(coordinates, name)
    if (
        isinstance(coordinates, list | tuple)
        and len(coordinates) in N_COORDINATES
        and all(isinstance(a, str) for a in coordinates)
    ):
        raise ValueError(f"{name}={coordinates!r} are texts; if they are columns of X: {name}=X[{[*coordinates]!r}]")
    array = as_array(coordinates, name)
    if array.ndim != 2 or len(array) != n_samples or array.shape[1] not in N_COORDINATES:
        raise ValueError(
            f"{name} have shape {array.shape}; expected (n_samples, 2) or (n_samples, 3), n_samples = {n_samples}: two or three "
            "lengths of one unit for each sample"
        )
    gone: BoolArray = np.asarray(missing(array).any(axis=1))
    _check_all_present(gone, name, "place")
    places = _finite_numbers(numbers_if_all(array), name, "").astype(np.float64)
    if said := of_degrees(getattr(coordinates, "columns", ()), places):
        warnings.warn(f"{name} {said}", stacklevel=3)
    return places


def of_degrees(columns: Iterable[Any], places: FloatArray) -> str:
    """Caution for columns that are named as latitude and longitude and hold degrees far from the equator; empty for others."""
    parts = [next((part for part, names in DEGREES.items() if str(one).lower() in names), "") for one in columns]
    if sorted(parts[:2]) != ["latitude", "longitude"]:
        return ""
    latitude, longitude = (places[:, parts.index(part)] for part in ("latitude", "longitude"))
    ratio = float(np.cos(np.radians(np.median(latitude))))
    if np.abs(latitude).max() > 90 or np.abs(longitude).max() > 360 or ratio > LEAST_RATIO:
        return ""
    return (
        f"are degrees: one of longitude is {ratio:.2f} as long as one of latitude here, and distances are those of a plane; "
        f"project them first, or multiply the longitude by {ratio:.2f}"
    )


def time_span(span: Any, name: str = "gap") -> float | np.timedelta64:
    """Convert a span of time to a number of at least 0, or, from a duration or text such as ``7D``, to timedelta64."""
    wanted = f"{name}={span!r} must be a number of at least 0, or a duration such as '7D' or pandas.Timedelta(days=7)"
    if isinstance(span, int | float | np.integer | np.floating) and not isinstance(span, bool | np.timedelta64):
        if not 0 <= span < np.inf:
            raise ValueError(wanted)
        return int(span) if isinstance(span, int | np.integer) else float(span)
    if not isinstance(span, str | datetime.timedelta | np.timedelta64):
        raise ValueError(wanted)
    try:
        duration = pd.Timedelta(span)
    except ValueError:
        raise ValueError(wanted) from None
    if pd.isna(duration) or duration < pd.Timedelta(0):
        raise ValueError(wanted)
    return duration.to_timedelta64()


def _without_zone(times: TableLike, name: str) -> Array:
    """Convert to an array; times of a zone become those of UTC."""
    if str(getattr(times, "dtype", "")).startswith("datetime64[") and getattr(times.dtype, "tz", None) is not None:
        return times.to_numpy(dtype="datetime64[ns]")
    if str(getattr(times, "dtype", "")).startswith("period["):
        return np.asarray(pd.PeriodIndex(times).start_time)
    return as_array(times, name)


def _dates_if_all(array: Array, name: str) -> Array:
    """Convert objects that are all dates to datetime64."""
    if array.dtype.kind != "O" or not all(isinstance(one, datetime.date | np.datetime64) for one in array.tolist()):
        return array
    zoned = [getattr(one, "tzinfo", None) is not None for one in array.tolist()]
    if any(zoned) and not all(zoned):
        raise ValueError(f"{name} mix times with and without a time zone; give all a zone, or none")
    return pd.to_datetime(pd.Series(array.tolist()), utc=any(zoned) or None).to_numpy(dtype="datetime64[us]")


def _check_all_present(gone: BoolArray, name: str, what: str) -> None:
    if gone.any():
        raise ValueError(
            f"{name} contain NaN: {gone.sum()} of {len(gone)} rows (the first is row {gone.argmax()}) have no {what}; drop them"
        )


def _finite_numbers(array: Array, name: str, remedy: str) -> Array:
    """Convert numbers of any type to int64 or float64."""
    if array.dtype.kind not in "buif":
        example = f", such as {array.ravel().tolist()[0]!r}" if array.size else ""
        raise ValueError(f"{name} hold {array.dtype} values{example}; expected numbers{' or dates' if remedy else ''}{remedy}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} contain infinity in row {row}; expected finite numbers")
    return array.astype(np.float64 if array.dtype.kind == "f" or array.dtype == np.uint64 else np.int64)
