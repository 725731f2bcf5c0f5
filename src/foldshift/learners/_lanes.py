"""Rows of numbers that compiled code keeps in the registers of the processor: the same step of many fits in one instruction.

In a loop over the fits within a loop over the features, sums would go to memory and back at every feature, because numba cannot
know that two arrays do not share memory. Here a row is one value, a vector of LLVM, which cuts it to the registers that the
processor has. Products are rounded before they are added, on every processor alike.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

# As numba types it, a call would have to hand over the typing context as well.
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]]
try:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic, models, register_model
except ImportError:  # the learner that uses a row says what it needs
    types, models = SimpleNamespace(Type=object), SimpleNamespace(PrimitiveModel=object)  # type: ignore[assignment]
    intrinsic, register_model = (lambda function: function), (lambda kind: lambda model: model)  # type: ignore[assignment]


class Lanes(types.Type):
    """Type of a row: a fixed number of numbers of one type."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), lanes.width))


@intrinsic
def load(typing: Any, table: Any, row: Any, lanes: Any) -> tuple[Any, Callable[..., Any]]:
    """Load a row of a table, an array of two axes in C order, as one value; its width is the length of the tuple `lanes`."""
    kind = Lanes(table.dtype, lanes.count)

    def code(context: Any, builder: Any, signature: Any, arguments: tuple[Any, Any, Any]) -> Any:
        place = _place(context, builder, signature, arguments, kind)
        return builder.load(place, align=table.dtype.bitwidth // 8)

    return kind(table, types.uint64, lanes), code


@intrinsic
def store(typing: Any, table: Any, row: Any, value: Lanes) -> tuple[Any, Callable[..., Any]]:
    """Store a row in a table."""

    def code(context: Any, builder: Any, signature: Any, arguments: tuple[Any, Any, Any]) -> Any:
        place = _place(context, builder, signature, arguments, value)
        builder.store(arguments[2], place, align=table.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(table, types.uint64, value), code


@intrinsic
def add_product(typing: Any, row: Lanes, factor: Any, other: Lanes) -> tuple[Any, Callable[..., Any]]:
    """Compute ``row + factor * other`` for a number `factor`."""

    def code(context: Any, builder: Any, signature: Any, arguments: tuple[Any, Any, Any]) -> Any:
        kind = context.get_value_type(row)
        nothing, first = ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), row.width), None)
        factors = builder.insert_element(nothing, arguments[1], ir.Constant(ir.IntType(32), 0))
        factors = builder.shuffle_vector(factors, nothing, first)
        return builder.fadd(arguments[0], builder.fmul(factors, arguments[2]))

    return row(row, row.dtype, row), code


def _place(context: Any, builder: Any, signature: Any, arguments: tuple[Any, Any, Any], kind: Lanes) -> Any:
    """Address of a row of a table, as that of a vector."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    start = builder.mul(arguments[1], ir.Constant(arguments[1].type, kind.width))
    return builder.bitcast(builder.gep(data, [start]), context.get_value_type(kind).as_pointer())
