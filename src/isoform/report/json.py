"""A verdict as one JSON object (the keys of the command line's `--json`, which scripts depend on).

Numbers: JSON readers keep 53 bits, so the form is decided by width and never by value. Values of 64 bits or
more, pointers and addresses are hex strings of their unsigned bits; narrower ones are numbers, negative where
their type is signed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from isoform import __version__
from isoform.model.contract import Argument, Contract, ReturnAs
from isoform.model.outcome import Outcome, Status
from isoform.model.saved import saved_as_json
from isoform.model.signature import CType, TypeKind
from isoform.model.verdict import Bounded, Different, Equivalent, Proof, Subject, Unknown, Verdict
from isoform.report.causes import root_cause_as_json
from isoform.report.shapes import shapes_of

WIDEST_NUMBER = 53


def dumps(verdict: Verdict) -> str:
    return as_text(verdict_as_json(verdict))


def as_text(content: Any) -> str:
    """JSON text that can be encoded as UTF-8: bytes of a path that are not text stay escaped."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    root_cause = verdict.root_cause if isinstance(verdict, Different) else None
    return {
        "verdict": verdict.word,
        "engine": verdict.engine,
        "seconds": round(verdict.seconds, 6),
        "target": _subject(verdict.target),
        "rewrite": _subject(verdict.rewrite),
        "contract": contract_as_json(verdict.contract),
        "assumptions": [{"name": a.name, "why": a.why} for a in verdict.assumptions],
        **_companions(verdict),
        "witness": _witness(verdict) if isinstance(verdict, Different) else None,
        "root_cause": root_cause_as_json(root_cause) if root_cause is not None else None,
        "proof": proof_as_json(verdict.proof) if isinstance(verdict, Equivalent) else None,
        "bound": _plain(verdict.bound) if isinstance(verdict, Bounded) else None,
        "tried": [{"engine": t.engine, "said": t.said, "seconds": round(t.seconds, 6)} for t in verdict.tried],
        **_reasons(verdict),
        "version": __version__,
    }


def _reasons(verdict: Verdict) -> dict[str, str]:
    """What stopped an undecided question, or may be behind a difference; no such keys where there is nothing to say."""
    if isinstance(verdict, Unknown):
        return {"why": verdict.why, "helps": verdict.helps}
    if isinstance(verdict, Different):
        return {"hint": verdict.hint} if verdict.hint else {}
    if isinstance(verdict, Bounded):
        return {"why": verdict.why} | ({"helps": verdict.helps} if verdict.helps else {})
    return {}


def _companions(verdict: Verdict) -> dict[str, Any]:
    """Functions whose address the two can get at; no key where there are none."""
    found = [{"name": c.name, "verdict": c.verdict, "why": c.why} for c in verdict.companions]
    return {"companions": found} if found else {}


def _subject(subject: Subject) -> dict[str, str]:
    return {"path": subject.path, "function": subject.function, "isa": subject.isa}


def contract_as_json(contract: Contract) -> dict[str, Any]:
    return {
        "signature": str(contract.signature) if contract.signature is not None else None,
        "source": contract.source.value,
        "arguments": [_argument(a) for a in contract.arguments],
        "results": [{"register": r.register, "bits": r.bits} for r in contract.results],
        "return_as": contract.return_as.value,
        "memory": contract.memory.value,
        "aborts": contract.aborts.value,
        "calls": contract.calls.value,
        "data": contract.data.value,
        "pure": list(contract.pure),
        "idempotent": list(contract.idempotent),
        "bounds": contract.bounds.value,
        "restrict": contract.restrict.value,
        "termination": contract.termination.value,
        "assume": [p.text for p in contract.preconditions],
    }


def _argument(argument: Argument) -> dict[str, Any]:
    places = [{"register": p.register, "offset": p.offset, "bytes": p.size} for p in argument.places]
    return {"name": argument.name, "type": argument.type.spelling, "places": places}


def _witness(verdict: Different) -> dict[str, Any]:
    witness, contract = verdict.witness, verdict.contract
    saved = {"saved": saved_as_json(verdict.asked, witness.inputs)} if verdict.asked is not None else {}
    return {
        "inputs": {name: _input(name, value, contract) for name, value in witness.arguments},
        "memory": [{"address": hex(address), "bytes": data.hex()} for address, data in witness.memory],
        "shapes": dict(shapes_of(witness, contract)),
        "outside": list(witness.outside),
        "target": _outcome(witness.target, contract),
        "rewrite": _outcome(witness.rewrite, contract),
        "differences": [{"what": d.what, "target": d.target, "rewrite": d.rewrite} for d in witness.differences],
        "replayed_on": list(witness.replayed_on),
        **saved,
    }


def _input(name: str, value: int, contract: Contract) -> int | str:
    for argument in contract.arguments:
        if argument.name == name:
            return _typed(value, argument.type)
    register = contract.machine.registers.get(name)
    return _number(value, 8 * register.size if register is not None else 64, signed=False)


def _outcome(outcome: Outcome, contract: Contract) -> dict[str, Any]:
    return {
        "status": outcome.status.name.lower(),
        "return": _returned(outcome, contract),
        "reason": outcome.reason or None,
    }


def _returned(outcome: Outcome, contract: Contract) -> int | str | None:
    if outcome.status is not Status.DONE or contract.return_as is ReturnAs.VOID or not contract.results:
        return None
    value = contract.result_value(outcome)
    if contract.return_as is ReturnAs.BOOL:
        return value
    if contract.signature is not None:
        return _typed(value, contract.signature.result)
    return _number(value, contract.result_bits(), signed=True)


def _typed(value: int, kind: CType) -> int | str:
    if kind.kind is TypeKind.POINTER:
        return hex(value & ((1 << (kind.bits or 64)) - 1))
    return _number(value, kind.bits or 64, kind.signed)


def _number(value: int, bits: int, signed: bool) -> int | str:
    value &= (1 << bits) - 1
    if bits > WIDEST_NUMBER:
        return hex(value)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def proof_as_json(proof: Proof) -> dict[str, Any]:
    return {
        "cuts": _plain(proof.cuts),
        "invariants": list(proof.invariants),
        "obligations": [{"name": o.name, "shows": o.shows, "seconds": round(o.seconds, 6)} for o in proof.obligations],
        "certificate": proof.certificate,
    }


def _plain(value: Any) -> Any:
    """What an engine put in a dictionary of its own, as JSON: its integers have no type, so here only those
    that would lose bits become hex strings."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, (float, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << WIDEST_NUMBER else hex(value)
    return str(value)
