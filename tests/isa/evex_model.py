"""A plain model of AVX-512 instructions, written from the manual's pseudo-code: lists of lanes and Python numbers.

It shares nothing with `isoform.isa`. No processor with AVX-512 is needed to run it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Lanes = list[int]


def lanes(value: int, size: int, length: int) -> Lanes:
    return [value >> (8 * size * n) & ((1 << 8 * size) - 1) for n in range(length // size)]


def whole(parts: Sequence[int], size: int) -> int:
    return sum((part & ((1 << 8 * size) - 1)) << (8 * size * n) for n, part in enumerate(parts))


def signed(x: int, size: int) -> int:
    return x - (1 << 8 * size) if x >> (8 * size - 1) else x


def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(high, x))


@dataclass(frozen=True)
class Model:
    """One instruction: operands in assembly order, and what the result is before masking.

    Operands: `v` a vector of the instruction's length, `w` that or memory, `m` memory, `k` a mask, `r4`, `r8` a general
    register; `x`, `y` a vector of 128 or 256 bits, with `/m` also memory; `h`, `q`, `e` half, a quarter, an eighth.
    """

    operands: tuple[str, ...]
    lane: int
    """Bytes of a lane of the mask; 0: no mask."""
    result: Callable[..., int]
    """Of the length in bytes and the values of all operands, the target's old value first."""
    immediates: Sequence[int] | None = None
    repeats: int = 0
    lengths: tuple[int, ...] = (16, 32, 64)
    kind: str = "integer"


def lane_by_lane(size: int, function: Callable[..., int]) -> Callable[..., int]:
    def result(length: int, _old: int, *sources: int) -> int:
        return whole([function(*parts) for parts in zip(*(lanes(s, size, length) for s in sources), strict=True)], size)

    return result


def of_signed(size: int, function: Callable[..., int]) -> Callable[..., int]:
    return lambda *xs: function(*(signed(x, size) for x in xs))


def in_blocks(function: Callable[..., int]) -> Callable[..., int]:
    """16 bytes at a time; an immediate, if there is one, comes last and goes to every block."""

    def result(length: int, _old: int, *sources: int, immediate: int | None = None) -> int:
        blocks = zip(*(lanes(s, 16, length) for s in sources), strict=True)
        extra = () if immediate is None else (immediate,)
        return whole([function(*parts, *extra) for parts in blocks], 16)

    return result


def with_immediate(function: Callable[..., int]) -> Callable[..., int]:
    return lambda length, old, *sources: function(length, old, *sources[:-1], immediate=sources[-1])


# Blocks of 16 bytes


def unpack(size: int, upper: bool) -> Callable[[int, int], int]:
    def block(x: int, y: int) -> int:
        a, b = lanes(x, size, 16), lanes(y, size, 16)
        half = len(a) // 2
        start = half if upper else 0
        return whole([v for n in range(start, start + half) for v in (a[n], b[n])], size)

    return block


def pack(size: int, is_signed: bool) -> Callable[[int, int], int]:
    bits = 4 * size
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)

    def block(x: int, y: int) -> int:
        parts = [*lanes(x, size, 16), *lanes(y, size, 16)]
        return whole([clamp(signed(p, size), low, high) for p in parts], size // 2)

    return block


def shuffle_bytes(x: int, control: int) -> int:
    table = lanes(x, 1, 16)
    return whole([0 if c & 0x80 else table[c & 15] for c in lanes(control, 1, 16)], 1)


def sums_of_words(x: int, y: int) -> int:
    products = [signed(a, 2) * signed(b, 2) for a, b in zip(lanes(x, 2, 16), lanes(y, 2, 16), strict=True)]
    return whole([products[n] + products[n + 1] for n in range(0, 8, 2)], 4)


def sums_of_bytes(x: int, y: int) -> int:
    products = [a * signed(b, 1) for a, b in zip(lanes(x, 1, 16), lanes(y, 1, 16), strict=True)]
    return whole([clamp(products[n] + products[n + 1], -0x8000, 0x7FFF) for n in range(0, 16, 2)], 2)


def differences(x: int, y: int) -> int:
    parts = [abs(a - b) for a, b in zip(lanes(x, 1, 16), lanes(y, 1, 16), strict=True)]
    return whole([sum(parts[:8]), sum(parts[8:])], 8)


def shuffle_dwords(x: int, control: int) -> int:
    return whole([lanes(x, 4, 16)[control >> 2 * n & 3] for n in range(4)], 4)


def shuffle_words(upper: bool) -> Callable[[int, int], int]:
    def block(x: int, control: int) -> int:
        words = lanes(x, 2, 16)
        base = 4 if upper else 0
        moved = [words[base + (control >> 2 * n & 3)] for n in range(4)]
        return whole([*words[:4], *moved] if upper else [*moved, *words[4:]], 2)

    return block


def shuffle_singles(x: int, y: int, control: int) -> int:
    sources = (x, x, y, y)
    return whole([lanes(sources[n], 4, 16)[control >> 2 * n & 3] for n in range(4)], 4)


def align_bytes(x: int, y: int, count: int) -> int:
    return (x << 128 | y) >> 8 * min(count, 64) & ((1 << 128) - 1)


def shift_bytes(left: bool) -> Callable[[int, int], int]:
    return lambda x, n: (x << 8 * min(n, 16) if left else x >> 8 * min(n, 16)) & ((1 << 128) - 1)


# Across blocks


def shuffle_doubles(length: int, _old: int, x: int, y: int, control: int) -> int:
    a, b = lanes(x, 8, length), lanes(y, 8, length)
    return whole([(b if n % 2 else a)[n - n % 2 + (control >> n & 1)] for n in range(len(a))], 8)


def permute_doubles(length: int, _old: int, x: int, control: int) -> int:
    a = lanes(x, 8, length)
    return whole([a[n - n % 2 + (control >> n & 1)] for n in range(len(a))], 8)


def permute_singles_by(length: int, _old: int, x: int, by: int) -> int:
    a, c = lanes(x, 4, length), lanes(by, 4, length)
    return whole([a[n - n % 4 + (c[n] & 3)] for n in range(len(a))], 4)


def permute_doubles_by(length: int, _old: int, x: int, by: int) -> int:
    a, c = lanes(x, 8, length), lanes(by, 8, length)
    return whole([a[n - n % 2 + (c[n] >> 1 & 1)] for n in range(len(a))], 8)


def permute_quads(length: int, _old: int, x: int, control: int) -> int:
    a = lanes(x, 8, length)
    return whole([a[n - n % 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(a))], 8)


def permute(size: int) -> Callable[..., int]:
    def result(length: int, _old: int, index: int, x: int) -> int:
        table = lanes(x, size, length)
        return whole([table[i % len(table)] for i in lanes(index, size, length)], size)

    return result


def permute_two(size: int, index_in_target: bool) -> Callable[..., int]:
    def result(length: int, old: int, second: int, third: int) -> int:
        index, first = (old, second) if index_in_target else (second, old)
        table = [*lanes(first, size, length), *lanes(third, size, length)]
        return whole([table[i % len(table)] for i in lanes(index, size, length)], size)

    return result


def align(size: int) -> Callable[..., int]:
    def result(length: int, _old: int, x: int, y: int, count: int) -> int:
        both = [*lanes(y, size, length), *lanes(x, size, length)]
        start = count % (length // size)
        return whole(both[start : start + length // size], size)

    return result


def shuffle_blocks(length: int, _old: int, x: int, y: int, control: int) -> int:
    a, b = lanes(x, 16, length), lanes(y, 16, length)
    if length == 32:
        return whole([a[control & 1], b[control >> 1 & 1]], 16)
    return whole([a[control & 3], a[control >> 2 & 3], b[control >> 4 & 3], b[control >> 6 & 3]], 16)


def insert(size: int) -> Callable[..., int]:
    def result(length: int, _old: int, x: int, y: int, place: int) -> int:
        parts = lanes(x, size, length)
        parts[place % len(parts)] = y & ((1 << 8 * size) - 1)
        return whole(parts, size)

    return result


def extract(size: int) -> Callable[..., int]:
    def result(length: int, _old: int, x: int, place: int) -> int:
        parts = lanes(x, size, length)
        return parts[place % len(parts)]

    return result


def repeat(size: int) -> Callable[..., int]:
    return lambda length, _old, x: whole([x] * (length // size), size)


def extend(small: int, large: int, is_signed: bool) -> Callable[..., int]:
    def result(length: int, _old: int, x: int) -> int:
        parts = lanes(x, small, length * small // large)
        return whole([signed(p, small) if is_signed else p for p in parts], large)

    return result


def truncate(large: int, small: int) -> Callable[..., int]:
    return lambda length, _old, x: whole(lanes(x, large, length), small)


def ternary(length: int, old: int, x: int, y: int, table: int) -> int:
    bits = range(8 * length)
    return sum((table >> ((old >> n & 1) << 2 | (x >> n & 1) << 1 | y >> n & 1) & 1) << n for n in bits)


def madd52(upper: bool) -> Callable[..., int]:
    def result(length: int, old: int, x: int, y: int) -> int:
        parts = zip(*(lanes(v, 8, length) for v in (old, x, y)), strict=True)
        low = (1 << 52) - 1
        products = [(t, (a & low) * (b & low)) for t, a, b in parts]
        return whole([t + (p >> 52 if upper else p & low) for t, p in products], 8)

    return result


def rotated(x: int, count: int, size: int) -> int:
    bits = 8 * size
    count %= bits
    return (x << count | x >> (bits - count)) & ((1 << bits) - 1)


def shifted(x: int, count: int, size: int, how: str) -> int:
    bits = 8 * size
    if how == "sra":
        return signed(x, size) >> min(count, bits)
    return 0 if count >= bits else x << count if how == "sll" else x >> count


def shift_all(size: int, how: str) -> Callable[..., int]:
    """By one count: an immediate, or the low 64 bits of a vector."""

    def result(length: int, _old: int, x: int, count: int) -> int:
        return whole([shifted(v, count & ((1 << 64) - 1), size, how) for v in lanes(x, size, length)], size)

    return result


def to_mask(size: int, function: Callable[..., int]) -> Callable[..., int]:
    def result(length: int, _old: int, *sources: int) -> int:
        columns = zip(*(lanes(s, size, length) for s in sources), strict=True)
        return sum(bool(function(*column)) << n for n, column in enumerate(columns))

    return result


def compare(size: int, is_signed: bool) -> Callable[..., int]:
    def result(length: int, _old: int, x: int, y: int, number: int) -> int:
        def holds(a: int, b: int) -> bool:
            a, b = (signed(a, size), signed(b, size)) if is_signed else (a, b)
            return (a == b, a < b, a <= b, False, a != b, a >= b, a > b, True)[number]

        return to_mask(size, holds)(length, 0, x, y)

    return result


# Floating point, for numbers that are neither NaN nor infinite


def number(bits: int, size: int) -> float:
    return float(struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))[0])


def bits_of(value: float, size: int) -> int:
    return int.from_bytes(struct.pack("<f" if size == 4 else "<d", value), "little")


def floating(size: int, function: Callable[..., float]) -> Callable[..., int]:
    return lane_by_lane(size, lambda *xs: bits_of(function(*(number(x, size) for x in xs)), size))


_B = {"b": 1, "w": 2, "d": 4, "q": 8}
_ALL = range(256)


def _binary(size: int, function: Callable[..., int], lane: int | None = None) -> Model:
    return Model(("v", "v", "w"), lane or size, lane_by_lane(size, function), repeats=size if size >= 4 else 0)


def _unary(size: int, function: Callable[..., int]) -> Model:
    return Model(("v", "w"), size, lane_by_lane(size, function), repeats=size if size >= 4 else 0)


def _blocks(lane: int, function: Callable[..., int], repeats: int = 0) -> Model:
    return Model(("v", "v", "w"), lane, in_blocks(function), repeats=repeats)


def _models() -> dict[str, list[Model]]:
    found: dict[str, list[Model]] = {}

    def add(name: str, model: Model) -> None:
        found.setdefault(name, []).append(model)

    for suffix, size in _B.items():
        bits = 8 * size
        top = (1 << bits) - 1
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        repeats = size if size >= 4 else 0
        add(f"vpadd{suffix}", _binary(size, lambda x, y: x + y))
        add(f"vpsub{suffix}", _binary(size, lambda x, y: x - y))
        add(f"vpminu{suffix}", _binary(size, min))
        add(f"vpmaxu{suffix}", _binary(size, max))
        add(f"vpmins{suffix}", _binary(size, of_signed(size, min)))
        add(f"vpmaxs{suffix}", _binary(size, of_signed(size, max)))
        add(f"vpabs{suffix}", _unary(size, of_signed(size, abs)))
        add(f"vpopcnt{suffix}", _unary(size, int.bit_count))
        for name, test in (
            ("cmpeq", lambda x, y: x == y),
            ("testm", lambda x, y: x & y != 0),
            ("testnm", lambda x, y: x & y == 0),
            ("cmpgt", of_signed(size, lambda x, y: x > y)),
        ):
            add(f"vp{name}{suffix}", Model(("k", "v", "w"), size, to_mask(size, test), repeats=repeats))
        for letter, is_signed in (("", True), ("u", False)):
            rule = compare(size, is_signed)
            add(f"vpcmp{letter}{suffix}", Model(("k", "v", "w"), size, rule, range(8), repeats=repeats))
        add(f"vpmov{suffix}2m", Model(("k", "v"), 0, to_mask(size, lambda x, t=bits - 1: x >> t & 1)))
        add(
            f"vpmovm2{suffix}",
            Model(
                ("v", "k"),
                0,
                lambda length, _o, k, s=size, t=top: whole([t if k >> n & 1 else 0 for n in range(length // s)], s),
            ),
        )
        add(
            f"vpblendm{suffix}", Model(("v", "v", "w"), size, lambda length, _o, x, y: y, repeats=repeats, kind="blend")
        )
        register = "r8" if size == 8 else "r4"
        add(f"vpbroadcast{suffix}", Model(("v", register), size, repeat(size)))
        add(f"vpbroadcast{suffix}", Model(("v", "x/m"), size, repeat(size)))
        if size <= 2:
            for letter, minimum, maximum in (("s", low, high), ("us", 0, top)):

                def view(x: int, s: int = size, u: bool = letter == "us") -> int:
                    return x if u else signed(x, s)

                add(
                    f"vpadd{letter}{suffix}",
                    _binary(size, lambda x, y, v=view, a=minimum, b=maximum: clamp(v(x) + v(y), a, b)),
                )
                add(
                    f"vpsub{letter}{suffix}",
                    _binary(size, lambda x, y, v=view, a=minimum, b=maximum: clamp(v(x) - v(y), a, b)),
                )
            add(f"vpavg{suffix}", _binary(size, lambda x, y: x + y + 1 >> 1))
        if size >= 4:
            add(f"vpand{suffix}", _binary(size, lambda x, y: x & y))
            add(f"vpandn{suffix}", _binary(size, lambda x, y: ~x & y))
            add(f"vpor{suffix}", _binary(size, lambda x, y: x | y))
            add(f"vpxor{suffix}", _binary(size, lambda x, y: x ^ y))
            add(f"vplzcnt{suffix}", _unary(size, lambda x, n=bits: n - x.bit_length()))
            add(f"vpternlog{suffix}", Model(("v", "v", "w"), size, ternary, _ALL, size))
            add(f"valign{suffix}", Model(("v", "v", "w"), size, align(size), _ALL, size))
            for way, sign in (("l", 1), ("r", -1)):
                add(f"vpro{way}v{suffix}", _binary(size, lambda x, y, s=size, g=sign: rotated(x, g * y, s)))
                add(
                    f"vpro{way}{suffix}",
                    Model(
                        ("v", "w"),
                        size,
                        lambda length, _o, x, i, s=size, g=sign: whole(
                            [rotated(v, g * i, s) for v in lanes(x, s, length)], s
                        ),
                        _ALL,
                        size,
                    ),
                )
            for kind, types in (("", {4: "d", 8: "q"}), ("p", {4: "s", 8: "d"})):
                for letter, in_target in (("i", True), ("t", False)):
                    add(
                        f"vperm{letter}2{kind}{types[size]}",
                        Model(("v", "v", "w"), size, permute_two(size, in_target), repeats=size),
                    )
                add(
                    f"vperm{kind}{types[size]}",
                    Model(("v", "v", "w"), size, permute(size), repeats=size, lengths=(32, 64)),
                )
        if size >= 2:
            add(f"vpmull{suffix}", _binary(size, lambda x, y: x * y))
            for how in ("sll", "srl", "sra"):
                add(f"vp{how}v{suffix}", _binary(size, lambda x, y, s=size, h=how: shifted(x, y, s, h)))
                add(f"vp{how}{suffix}", Model(("v", "w"), size, shift_all(size, how), _ALL, repeats))
                add(f"vp{how}{suffix}", Model(("v", "v", "x/m"), size, shift_all(size, how), kind="count"))
    for suffix, size in (
        ("lbw", 1),
        ("lwd", 2),
        ("ldq", 4),
        ("lqdq", 8),
        ("hbw", 1),
        ("hwd", 2),
        ("hdq", 4),
        ("hqdq", 8),
    ):
        add(f"vpunpck{suffix}", _blocks(size, unpack(size, suffix[0] == "h"), size if size >= 4 else 0))
    for suffix, size in (("lps", 4), ("lpd", 8), ("hps", 4), ("hpd", 8)):
        add(f"vunpck{suffix}", _blocks(size, unpack(size, suffix[0] == "h"), size))
    add("vpacksswb", _blocks(1, pack(2, True)))
    add("vpackuswb", _blocks(1, pack(2, False)))
    add("vpackssdw", _blocks(2, pack(4, True), 4))
    add("vpackusdw", _blocks(2, pack(4, False), 4))
    add("vpshufb", _blocks(1, shuffle_bytes))
    add("vpmaddwd", _blocks(4, sums_of_words))
    add("vpmaddubsw", _blocks(2, sums_of_bytes))
    add("vpsadbw", _blocks(0, differences))
    add("vpmulhw", _binary(2, of_signed(2, lambda x, y: x * y >> 16)))
    add("vpmulhuw", _binary(2, lambda x, y: x * y >> 16))
    add("vpmulhrsw", _binary(2, of_signed(2, lambda x, y: (x * y >> 14) + 1 >> 1)))
    add("vpmuludq", _binary(8, lambda x, y: (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF)))
    add("vpmuldq", _binary(8, lambda x, y: signed(x & 0xFFFFFFFF, 4) * signed(y & 0xFFFFFFFF, 4)))
    add("vpmadd52luq", Model(("v", "v", "w"), 8, madd52(False), repeats=8))
    add("vpmadd52huq", Model(("v", "v", "w"), 8, madd52(True), repeats=8))
    add("vpslldq", Model(("v", "w"), 0, with_immediate(in_blocks(shift_bytes(True))), _ALL))
    add("vpsrldq", Model(("v", "w"), 0, with_immediate(in_blocks(shift_bytes(False))), _ALL))
    add("vpshufd", Model(("v", "w"), 4, with_immediate(in_blocks(shuffle_dwords)), _ALL, 4))
    add("vpshufhw", Model(("v", "w"), 2, with_immediate(in_blocks(shuffle_words(True))), _ALL))
    add("vpshuflw", Model(("v", "w"), 2, with_immediate(in_blocks(shuffle_words(False))), _ALL))
    add("vshufps", Model(("v", "v", "w"), 4, with_immediate(in_blocks(shuffle_singles)), _ALL, 4))
    add("vshufpd", Model(("v", "v", "w"), 8, shuffle_doubles, _ALL, 8))
    add("vpalignr", Model(("v", "v", "w"), 1, with_immediate(in_blocks(align_bytes)), _ALL))
    add("vpermilps", Model(("v", "w"), 4, with_immediate(in_blocks(shuffle_dwords)), _ALL, 4))
    add("vpermilpd", Model(("v", "w"), 8, permute_doubles, _ALL, 8))
    add("vpermilps", Model(("v", "v", "w"), 4, permute_singles_by, repeats=4))
    add("vpermilpd", Model(("v", "v", "w"), 8, permute_doubles_by, repeats=8))
    add("vpermq", Model(("v", "w"), 8, permute_quads, _ALL, 8, (32, 64)))
    add("vpermpd", Model(("v", "w"), 8, permute_quads, _ALL, 8, (32, 64)))
    add("vpermw", Model(("v", "v", "w"), 2, permute(2)))
    add("vpbroadcastmb2q", Model(("v", "k"), 0, lambda length, _o, k: whole([k & 0xFF] * (length // 8), 8)))
    add("vpbroadcastmw2d", Model(("v", "k"), 0, lambda length, _o, k: whole([k & 0xFFFF] * (length // 4), 4)))
    add("vblendmps", Model(("v", "v", "w"), 4, lambda length, _o, x, y: y, repeats=4, kind="blend"))
    add("vblendmpd", Model(("v", "v", "w"), 8, lambda length, _o, x, y: y, repeats=8, kind="blend"))
    moves = {
        "dqa32": 4,
        "dqa64": 8,
        "dqu8": 1,
        "dqu16": 2,
        "dqu32": 4,
        "dqu64": 8,
        "ups": 4,
        "upd": 8,
        "aps": 4,
        "apd": 8,
    }
    for name, size in moves.items():
        add(f"vmov{name}", Model(("v", "w"), size, lambda length, _o, x: x))
        add(f"vmov{name}", Model(("m", "v"), size, lambda length, _o, x: x))
    for name in ("vmovntps", "vmovntpd", "vmovntdq"):
        add(name, Model(("m", "v"), 0, lambda length, _o, x: x))
    add("vmovntdqa", Model(("v", "m"), 0, lambda length, _o, x: x))
    for name, register, size in (("vmovd", "r4", 4), ("vmovq", "r8", 8)):
        top = (1 << 8 * size) - 1
        add(name, Model(("x", f"{register}/m"), 0, lambda length, _o, x, t=top: x & t, lengths=(16,)))
        add(name, Model((f"{register}/m", "x"), 0, lambda length, _o, x, t=top: x & t, lengths=(16,)))
    add("vmovq", Model(("x", "x"), 0, lambda length, _o, x: x & ((1 << 64) - 1), lengths=(16,)))
    add(
        "vmovsldup",
        Model(
            ("v", "w"), 4, lambda length, _o, x: whole([lanes(x, 4, length)[n - n % 2] for n in range(length // 4)], 4)
        ),
    )
    add(
        "vmovshdup",
        Model(
            ("v", "w"),
            4,
            lambda length, _o, x: whole([lanes(x, 4, length)[n - n % 2 + 1] for n in range(length // 4)], 4),
        ),
    )
    add("vbroadcastss", Model(("v", "x/m"), 4, repeat(4)))
    add("vbroadcastsd", Model(("v", "x/m"), 8, repeat(8), lengths=(32, 64)))
    add("vbroadcastf32x2", Model(("v", "x/m"), 4, repeat(8), lengths=(32, 64)))
    add("vbroadcasti32x2", Model(("v", "x/m"), 4, repeat(8)))
    for kind in "fi":
        for parts, lane, size in (("32x4", 4, 16), ("64x2", 8, 16), ("32x8", 4, 32), ("64x4", 8, 32)):
            small = "x" if size == 16 else "y"
            lengths = (32, 64) if size == 16 else (64,)
            add(f"vbroadcast{kind}{parts}", Model(("v", "m"), lane, repeat(size), lengths=lengths))
            add(f"vinsert{kind}{parts}", Model(("v", "v", f"{small}/m"), lane, insert(size), _ALL, 0, lengths))
            add(f"vextract{kind}{parts}", Model((f"{small}/m", "v"), lane, extract(size), _ALL, 0, lengths))
        for parts, size in (("32x4", 4), ("64x2", 8)):
            add(f"vshuf{kind}{parts}", Model(("v", "v", "w"), size, shuffle_blocks, _ALL, size, (32, 64)))
    for name, narrow, wide in (("bw", 1, 2), ("bd", 1, 4), ("bq", 1, 8), ("wd", 2, 4), ("wq", 2, 8), ("dq", 4, 8)):
        part = {2: "h", 4: "q", 8: "e"}[wide // narrow]
        add(f"vpmovzx{name}", Model(("v", f"{part}/m"), wide, extend(narrow, wide, False)))
        add(f"vpmovsx{name}", Model(("v", f"{part}/m"), wide, extend(narrow, wide, True)))
        add(f"vpmov{name[::-1]}", Model((f"{part}/m", "v"), narrow, truncate(wide, narrow)))
    for suffix, size in (("ps", 4), ("pd", 8)):
        for name, function in (
            ("add", lambda x, y: x + y),
            ("sub", lambda x, y: x - y),
            ("mul", lambda x, y: x * y),
            ("div", lambda x, y: x / y),
            ("min", min),
            ("max", max),
        ):
            add(f"v{name}{suffix}", Model(("v", "v", "w"), size, floating(size, function), repeats=size, kind="float"))
        add(f"vsqrt{suffix}", Model(("v", "w"), size, floating(size, math.sqrt), repeats=size, kind="float"))
        for name, operation in (
            ("and", lambda x, y: x & y),
            ("andn", lambda x, y: ~x & y),
            ("or", lambda x, y: x | y),
            ("xor", lambda x, y: x ^ y),
        ):
            add(f"v{name}{suffix}", _binary(size, operation))
    return found


MODELS: Mapping[str, list[Model]] = _models()


# Mask instructions


@dataclass(frozen=True)
class MaskModel:
    operands: tuple[str, ...]
    size: int
    result: Callable[..., int]
    immediate: bool = False


def _mask_models() -> dict[str, list[MaskModel]]:
    found: dict[str, list[MaskModel]] = {}
    for suffix, size in _B.items():
        top = (1 << 8 * size) - 1
        for name, function in (
            ("and", lambda x, y: x & y),
            ("andn", lambda x, y: ~x & y),
            ("or", lambda x, y: x | y),
            ("xnor", lambda x, y: ~(x ^ y)),
            ("xor", lambda x, y: x ^ y),
            ("add", lambda x, y: x + y),
        ):
            found[f"k{name}{suffix}"] = [MaskModel(("k", "k", "k"), size, function)]
        found[f"knot{suffix}"] = [MaskModel(("k", "k"), size, lambda x: ~x)]
        register = "r8" if size == 8 else "r4"
        pairs = (("k", "k"), ("k", "m"), ("m", "k"), ("k", register), (register, "k"))
        found[f"kmov{suffix}"] = [MaskModel(pair, size, lambda x: x) for pair in pairs]
        found[f"kshiftl{suffix}"] = [MaskModel(("k", "k"), size, lambda x, n, t=top: (x & t) << n, True)]
        found[f"kshiftr{suffix}"] = [MaskModel(("k", "k"), size, lambda x, n, t=top: (x & t) >> n, True)]
    for name, half in (("bw", 1), ("wd", 2), ("dq", 4)):
        top = (1 << 8 * half) - 1
        found[f"kunpck{name}"] = [
            MaskModel(("k", "k", "k"), 2 * half, lambda x, y, t=top, h=half: (x & t) << 8 * h | y & t)
        ]
    return found


MASK_MODELS: Mapping[str, list[MaskModel]] = _mask_models()
MASK_TESTS: Mapping[str, tuple[int, Callable[[int, int, int], tuple[bool, bool]]]] = {
    **{f"kortest{suffix}": (size, lambda x, y, top: (x | y == 0, x | y == top)) for suffix, size in _B.items()},
    **{f"ktest{suffix}": (size, lambda x, y, top: (x & y == 0, ~x & y & top == 0)) for suffix, size in _B.items()},
}
"""Width, and zero and carry flag of two masks."""
