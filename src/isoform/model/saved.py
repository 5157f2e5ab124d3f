"""A difference as a file keeps it: the question, the code, and the state at entry that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isoform.model.errors import UserError
from isoform.model.outcome import CallEffect, CallKey, Inputs
from isoform.model.values import dataclass

OPTIONS = (
    "signature",
    "assume",
    "return_as",
    "memory",
    "aborts",
    "calls",
    "data",
    "bounds",
    "restrict",
    "pure",
    "idempotent",
    "shapes",
    "fuel",
    "unroll",
    "seed",
)
"""Those that define the question, and how runs and formulas are made."""


@dataclass(frozen=True)
class SavedQuestion:
    """A question, so that it can be asked again."""

    sides: tuple[Mapping[str, Any], Mapping[str, Any]]
    """Of target and rewrite: `path[:function]` and how it is loaded."""
    options: Mapping[str, Any]
    code: tuple[str, str]
    """Hashes of the machine code of both."""


def saved_as_json(asked: SavedQuestion, inputs: Inputs) -> dict[str, Any]:
    """What `isoform explain` reads."""
    return {
        "target": dict(asked.sides[0]),
        "rewrite": dict(asked.sides[1]),
        "options": dict(asked.options),
        "code": {"target": asked.code[0], "rewrite": asked.code[1]},
        "inputs": _inputs_as_json(inputs),
    }


def saved_from_json(content: Any) -> tuple[SavedQuestion, Inputs]:
    """Raises `UserError` if it is not what `saved_as_json` makes."""
    try:
        sides = dict(content["target"]), dict(content["rewrite"])
        code = str(content["code"]["target"]), str(content["code"]["rewrite"])
        if not set(content["options"]) <= set(OPTIONS):
            raise KeyError
        return SavedQuestion(sides, dict(content["options"]), code), _inputs_from_json(content["inputs"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError("the question in the file cannot be read; ask it again with `compare --json`") from None


def _inputs_as_json(inputs: Inputs) -> dict[str, Any]:
    return {
        "registers": {name: hex(value) for name, value in inputs.registers.items() if value},
        "memory": {hex(address): byte for address, byte in inputs.memory.items()},
        "seeds": [inputs.fill_seed, inputs.side_seed, inputs.call_seed, inputs.bytes_filled],
        "calls": [
            {
                "callee": key.callee,
                "arguments": [hex(argument) for argument in key.arguments],
                "number": key.number,
                "registers": {name: hex(value) for name, value in effect.registers.items()},
                "memory": {hex(address): byte for address, byte in effect.memory.items()},
            }
            for key, effect in inputs.call_results.items()
        ],
    }


def _inputs_from_json(content: Mapping[str, Any]) -> Inputs:
    fill, side, call, filled = (int(seed) for seed in content["seeds"])
    return Inputs(
        registers=_numbers(content["registers"]),
        memory=_bytes(content["memory"]),
        fill_seed=fill,
        side_seed=side,
        call_results={_key(call): _effect(call) for call in content["calls"]},
        call_seed=call,
        bytes_filled=filled,
    )


def _key(call: Mapping[str, Any]) -> CallKey:
    number = None if call["number"] is None else int(call["number"])
    return CallKey(str(call["callee"]), tuple(int(argument, 16) for argument in call["arguments"]), number)


def _effect(call: Mapping[str, Any]) -> CallEffect:
    return CallEffect(_numbers(call["registers"]), _bytes(call["memory"]))


def _numbers(content: Mapping[str, Any]) -> dict[str, int]:
    return {str(name): int(value, 16) for name, value in content.items()}


def _bytes(content: Mapping[str, Any]) -> dict[int, int]:
    found = {int(address, 16): int(byte) for address, byte in content.items()}
    if not all(0 <= byte < 256 for byte in found.values()):
        raise ValueError
    return found
