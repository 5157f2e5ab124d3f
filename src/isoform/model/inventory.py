"""What is in a file: its functions, and what isoform knows of each."""

from __future__ import annotations

from typing import Any

from isoform.model.contract import SignatureSource
from isoform.model.values import dataclass


@dataclass(frozen=True)
class ListedFunction:
    file: str
    """With the member, in an archive."""
    name: str
    """As the symbol is spelled."""
    shown: str
    """As a person writes it: C++ names are demangled."""
    aliases: tuple[str, ...]
    """Other symbols with the same address."""
    section: str
    address: int
    """In the file: an address of a linked file, an offset in the section of an object file."""
    size: int
    is_local: bool
    signature: str | None
    source: SignatureSource | None
    """Where the signature comes from."""
    instructions: int
    missing: tuple[str, ...]
    """Instructions without semantics, each once."""
    why_not: str = ""
    """Why it has no signature, where it has none."""


@dataclass(frozen=True)
class Inventory:
    path: str
    machine: str
    functions: tuple[ListedFunction, ...]

    @property
    def complete(self) -> int:
        """How many functions have only instructions with semantics."""
        return sum(not function.missing for function in self.functions)


def inventory_as_json(inventory: Inventory) -> dict[str, Any]:
    functions = [
        {
            "file": f.file,
            "name": f.name,
            "shown": f.shown,
            "aliases": list(f.aliases),
            "section": f.section,
            "address": hex(f.address),
            "size": f.size,
            "local": f.is_local,
            "signature": f.signature,
            "signature_from": None if f.source is None else f.source.value,
            "why_no_signature": f.why_not or None,
            "instructions": f.instructions,
            "has_semantics": not f.missing,
            "missing": list(f.missing),
        }
        for f in inventory.functions
    ]
    return {"file": inventory.path, "machine": inventory.machine, "functions": functions}
