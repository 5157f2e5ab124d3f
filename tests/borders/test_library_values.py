"""The values that witnesses are recomputed with, against the machine code that stands for the same functions."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from random import Random

import pytest

from isoform.borders.library_values import VALUES
from isoform.isa.x86_64.machine import MACHINE
from isoform.load.known import known_signature
from isoform.model.contract import NoValueError
from isoform.model.evaluate_floats import to_bits, to_float
from isoform.model.library import every_library_function
from isoform.model.sample_floats import sample_float
from isoform.model.signature import TypeKind

EVERY = {function.name for function in every_library_function() if function.computes is not None}


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_function_has_a_prototype_and_a_value(name: str) -> None:
    assert known_signature(name) is not None
    assert name in VALUES


@pytest.mark.parametrize("name", sorted(MACHINE.library))
def test_code_computes_the_value(name: str) -> None:
    """Unicorn runs the code; the values are computed without it."""
    import unicorn
    from unicorn import x86_const as x86

    signature = known_signature(name)
    assert signature is not None
    random = Random(name)
    cpu = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
    cpu.mem_map(0x1000, 0x1000)
    cpu.mem_write(0x1000, MACHINE.library[name])
    for _ in range(60):
        floats, integers, arguments = [x86.UC_X86_REG_XMM0, x86.UC_X86_REG_XMM1], [x86.UC_X86_REG_RDI], []
        for parameter in signature.parameters:
            size = parameter.type.bits // 8
            if parameter.type.is_float:
                arguments.append(sample_float(random, size))
                cpu.reg_write(floats.pop(0), arguments[-1] | random.getrandbits(64) << 64)
            else:
                arguments.append(random.getrandbits(8 * size) >> random.randrange(8 * size))
                cpu.reg_write(integers.pop(0), arguments[-1])
        cpu.emu_start(0x1000, 0x1000 + len(MACHINE.library[name]))
        in_xmm = signature.result.is_float
        result = cpu.reg_read(x86.UC_X86_REG_XMM0 if in_xmm else x86.UC_X86_REG_RAX)
        expected = VALUES[name](tuple(arguments), lambda address: 0)[0]
        assert result % (1 << signature.result.bits) == expected, [hex(a) for a in arguments]


def _double(name: str, *numbers: float) -> float:
    return to_float(VALUES[name](tuple(to_bits(n, 8) for n in numbers), lambda address: 0)[0], 8)


def test_poles_and_overflow() -> None:
    assert _double("log", 0.0) == -math.inf
    assert math.isnan(_double("log", -1.0))
    assert _double("exp", 1e9) == math.inf
    assert _double("pow", -0.0, -1.0) == -math.inf
    assert _double("pow", -10.0, 999.0) == -math.inf
    assert _double("fmax", math.nan, 2.0) == 2.0
    assert _double("round", -2.5) == -3.0
    assert _double("sinh", -1e9) == -math.inf


TEXT = b"hello\0help\0"


def _text(name: str, *arguments: int) -> int:
    return VALUES[name](arguments, lambda address: TEXT[address])[0]


def test_texts() -> None:
    assert _text("strlen", 0) == 5
    assert _text("strnlen", 0, 3) == 3
    assert _text("strcmp", 0, 6) == (ord("l") - ord("p")) % (1 << 32)
    assert _text("strncmp", 0, 6, 3) == 0
    assert _text("memcmp", 0, 6, 4) == (ord("l") - ord("p")) % (1 << 32)
    assert _text("strchr", 0, ord("l")) == 2
    assert _text("strrchr", 0, ord("l")) == 3
    assert _text("strchr", 0, 0) == 5
    assert _text("strchr", 0, ord("x")) == 0
    assert _text("memchr", 0, ord("p"), 11) == 9
    assert _text("strspn", 0, 6) == 4


def test_text_without_end() -> None:
    with pytest.raises(NoValueError):
        VALUES["strlen"]((0,), lambda address: 1)


_EXACT = "fdim fmin fmax ldexp scalbn logb ilogb nextafter lround modf trunc round remainder fmod"


@pytest.mark.parametrize("name", [f"{name}{suffix}" for name in _EXACT.split() for suffix in ("", "f")])
def test_values_are_those_of_the_library(name: str) -> None:
    """Of functions whose result is exact, so that every library must give the same."""
    path = ctypes.util.find_library("m")
    signature = known_signature(name)
    if path is None or signature is None:
        pytest.skip("there is no libm here")
    size = signature.parameters[0].type.bits // 8
    kind = ctypes.c_double if size == 8 else ctypes.c_float
    function = getattr(ctypes.CDLL(path), name)
    is_float = signature.result.is_float
    function.restype = kind if is_float else {32: ctypes.c_uint32, 64: ctypes.c_uint64}[signature.result.bits]
    random = Random(name)
    for _ in range(400):
        numbers: list[int] = []
        passed: list[object] = []
        stored = kind()
        for parameter in signature.parameters:
            if parameter.type.is_float:
                numbers.append(random.choice([sample_float(random, size), to_bits(random.uniform(-9, 9), size)]))
                passed.append(kind.from_buffer_copy(numbers[-1].to_bytes(size, "little")))
            elif parameter.type.kind is TypeKind.POINTER:
                numbers.append(0x1000)
                passed.append(ctypes.byref(stored))
            else:
                numbers.append(random.choice([0, 1, 7, -3 % (1 << 32), 1100, random.getrandbits(32)]))
                passed.append(ctypes.c_uint32(numbers[-1]))
        try:
            expected = VALUES[name](tuple(numbers), lambda address: 0)
        except NoValueError:
            continue
        given = function(*passed)
        found = [to_bits(given, size) if is_float else given]
        found += [to_bits(stored.value, size)] if len(expected) > 1 else []
        for one, other in zip(found, expected, strict=True):
            both_nan = is_float and math.isnan(to_float(one, size)) and math.isnan(to_float(other, size))
            assert one == other or both_nan, [hex(n) for n in numbers]
