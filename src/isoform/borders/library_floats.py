"""What the functions of `math.h` give for concrete arguments, as bit patterns.

They are those of Python's `math`: a result that differs in the last bit from another library's is as good as any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from isoform.borders.library_integers import WORD, Value, signed
from isoform.model.contract import NoValueError, ReadByte
from isoform.model.evaluate_floats import infinity, is_nan, quiet_bit, sign_bit, to_bits, to_float


def _float_value(function: Callable[..., float], size: int) -> Value:
    """A NaN that comes in comes out, made quiet; one that is made is the machine's own."""

    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        numbers = [to_float(a, size) for a in arguments]
        try:
            result = function(*numbers)
        except ValueError:
            result = math.nan
        except OverflowError:
            raise NoValueError from None
        given = next((a for a in arguments if is_nan(a, size)), None)
        if math.isnan(result):
            return (infinity(size) | quiet_bit(size) | sign_bit(size) if given is None else given | quiet_bit(size),)
        return (to_bits(result, size),)

    return value


def _of_quiet(function: Callable[..., float], size: int) -> Value:
    """What libraries make of a signalling NaN is not the same everywhere."""
    value = _float_value(function, size)

    def of_quiet(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        if any(is_nan(argument, size) and not argument & quiet_bit(size) for argument in arguments):
            raise NoValueError
        return value(arguments, read)

    return of_quiet


def _with_poles(function: Callable[[float], float], pole: float, at_pole: float) -> Callable[[float], float]:
    return lambda x: at_pole if x == pole else function(x)


def _exponential(function: Callable[[float], float]) -> Callable[[float], float]:
    def value(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return value


def _odd(function: Callable[[float], float]) -> Callable[[float], float]:
    """What grows without end in both directions."""

    def value(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.copysign(math.inf, x)

    return value


def _power(x: float, y: float) -> float:
    odd = y.is_integer() and y % 2 == 1
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if odd else math.inf


def _whole(rounding: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: math.copysign(float(rounding(x)), x) if math.isfinite(x) else x


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole


def _smaller(x: float, y: float) -> float:
    return y if math.isnan(x) else x if math.isnan(y) or x < y or (x == y and math.copysign(1, x) < 0) else y


def _larger(x: float, y: float) -> float:
    return y if math.isnan(x) else x if math.isnan(y) or x > y or (x == y and math.copysign(1, x) > 0) else y


def _not_negative_zero(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.nan if x < 0 else function(x)


_LIBM: dict[str, Callable[..., float]] = {
    "sqrt": _not_negative_zero(math.sqrt),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    **dict.fromkeys(("rint", "nearbyint", "roundeven"), _whole(round)),
    "round": _whole(_half_away),
    "exp": _exponential(math.exp),
    "exp2": _exponential(lambda x: math.pow(2.0, x)),
    "expm1": _exponential(math.expm1),
    "log": _with_poles(math.log, 0.0, -math.inf),
    "log2": _with_poles(math.log2, 0.0, -math.inf),
    "log10": _with_poles(math.log10, 0.0, -math.inf),
    "log1p": _with_poles(math.log1p, -1.0, -math.inf),
    "pow": _power,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "sinh": _odd(math.sinh),
    "cosh": _exponential(math.cosh),
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x),
    "cbrt": lambda x: math.cbrt(x),
    "hypot": math.hypot,
    "fmod": math.fmod,
    "remainder": math.remainder,
    "erf": math.erf,
    "erfc": math.erfc,
    "fmin": _smaller,
    "fmax": _larger,
    "fdim": lambda x, y: x + y if math.isnan(x) or math.isnan(y) else x - y if x > y else 0.0,
}


def _magnitude(size: int) -> Value:
    return lambda arguments, read: (arguments[0] & ~sign_bit(size),)


def _copied_sign(size: int) -> Value:
    return lambda a, read: (a[0] & ~sign_bit(size) | a[1] & sign_bit(size),)


def _nearest_integer(size: int) -> Value:
    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        number = to_float(arguments[0], size)
        whole = round(number) if math.isfinite(number) else 1 << 63
        return (whole % WORD if -(1 << 63) <= whole < 1 << 63 else 1 << 63,)

    return value


def _sine_and_cosine(size: int) -> Value:
    parts = [_float_value(function, size) for function in (math.sin, math.cos)]
    return lambda arguments, read: tuple(part(arguments[:1], read)[0] for part in parts)


def _with_nan(size: int, function: Callable[[float, tuple[int, ...]], float]) -> Value:
    """Of a number and what comes after it; a NaN comes out as it came in, made quiet."""

    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        if is_nan(arguments[0], size):
            return (arguments[0] | quiet_bit(size),)
        return (to_bits(function(to_float(arguments[0], size), arguments[1:]), size),)

    return value


def _scaled(exponent_bits: int) -> Callable[[float, tuple[int, ...]], float]:
    def value(x: float, others: tuple[int, ...]) -> float:
        exponent = signed(others[0] % (1 << exponent_bits), exponent_bits)
        return _odd(lambda number: math.ldexp(number, max(-5000, min(5000, exponent))))(x)

    return value


def _exponent(x: float, others: tuple[int, ...]) -> float:
    return -math.inf if x == 0 else math.inf if math.isinf(x) else float(math.frexp(x)[1] - 1)


def _integer_exponent(size: int) -> Value:
    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        x = to_float(arguments[0], size)
        if math.isnan(x) or x == 0:
            return (1 << 31,)
        return ((1 << 31) - 1 if math.isinf(x) else (math.frexp(x)[1] - 1) % (1 << 32),)

    return value


def _rounded_integer(size: int) -> Value:
    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        x = to_float(arguments[0], size)
        if not math.isfinite(x) or not -(1 << 63) <= (whole := _half_away(x)) < 1 << 63:
            raise NoValueError  # the standard says nothing
        return (whole % WORD,)

    return value


def _parts(size: int) -> Value:
    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        number = arguments[0]
        if is_nan(number, size):
            return (number | quiet_bit(size),) * 2
        x = to_float(number, size)
        fraction, whole = (math.copysign(0.0, x), x) if math.isinf(x) else math.modf(x)
        return to_bits(fraction, size), to_bits(whole, size)

    return value


def _next_number(size: int) -> Value:
    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        x, y = (to_float(argument, size) for argument in arguments)
        if math.isnan(x) or math.isnan(y):
            raise NoValueError
        if x == y:
            return (arguments[1],)
        if x == 0:
            return (1 | (arguments[1] & sign_bit(size)),)
        return (arguments[0] + (1 if (x < y) == (x > 0) else -1),)

    return value


def _product(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    """Of two complex numbers, where no rule for infinities is needed."""
    a, b, c, d = (to_float(argument, 8) for argument in arguments)
    real, imaginary = a * c - b * d, a * d + b * c
    if math.isnan(real) or math.isnan(imaginary):
        raise NoValueError
    return to_bits(real, 8), to_bits(imaginary, 8)


def _not_known(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    """The last bits depend on the library."""
    raise NoValueError


FLOATS: Mapping[str, Value] = {
    **{name: _float_value(function, 8) for name, function in _LIBM.items()},
    **{f"{name}f": _float_value(function, 4) for name, function in _LIBM.items()},
    **{
        f"{name}{suffix}": _of_quiet(_LIBM[name], size)
        for name in ("fmin", "fmax")
        for suffix, size in (("", 8), ("f", 4))
    },
    **{name: _magnitude(size) for name, size in (("fabs", 8), ("fabsf", 4))},
    **{name: _copied_sign(size) for name, size in (("copysign", 8), ("copysignf", 4))},
    **{name: _nearest_integer(size) for name, size in (("lrint", 8), ("lrintf", 4))},
    **{name: _nearest_integer(size) for name, size in (("llrint", 8), ("llrintf", 4))},
    **{name: _rounded_integer(8) for name in ("lround", "llround")},
    **{name: _rounded_integer(4) for name in ("lroundf", "llroundf")},
    **{name: _with_nan(8, _scaled(bits)) for name, bits in (("ldexp", 32), ("scalbn", 32), ("scalbln", 64))},
    **{name: _with_nan(4, _scaled(bits)) for name, bits in (("ldexpf", 32), ("scalbnf", 32), ("scalblnf", 64))},
    **{name: _with_nan(size, _exponent) for name, size in (("logb", 8), ("logbf", 4))},
    **{name: _integer_exponent(size) for name, size in (("ilogb", 8), ("ilogbf", 4))},
    **{name: _next_number(size) for name, size in (("nextafter", 8), ("nextafterf", 4))},
    **{name: _parts(size) for name, size in (("modf", 8), ("modff", 4))},
    "__muldc3": _product,
    **dict.fromkeys(("fma", "fmaf", "__powidf2", "__powisf2", "__divdc3"), _not_known),
    **{name: _sine_and_cosine(size) for name, size in (("sincos", 8), ("sincosf", 4))},
}
