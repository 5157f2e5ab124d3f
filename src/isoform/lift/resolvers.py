"""Functions that a resolver of the file chooses when it is loaded (`ifunc`): which one, if there is no choice."""

from __future__ import annotations

from dataclasses import replace

from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Goto, Return
from isoform.lift.simplify import Known, known_value, propagate
from isoform.load.image import Image
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.microop import number_of


def with_resolved(image: Image, machine: Machine) -> Image:
    """The image in which a function with only one possible choice is that choice."""
    if image.resolvers_were_followed or not image.resolvers:
        return image
    choices = {entry: _choice(image, machine, entry) for entry in set(image.resolvers.values())}
    chosen = {address: choices[entry] for address, entry in image.resolvers.items()}
    settled = {address: code for address, code in chosen.items() if code is not None}
    outside = {address: image.externals[code] for address, code in settled.items() if code in image.externals}
    present = {address: code for address, code in settled.items() if code not in image.externals}
    externals = {address: name for address, name in image.externals.items() if address not in settled}
    resolvers = {address: entry for address, entry in image.resolvers.items() if address not in settled}
    aliases = {**image.aliases, **present}
    aliases = {address: present.get(code, code) for address, code in aliases.items()}
    return replace(
        image,
        externals={**externals, **outside},
        aliases=aliases,
        resolvers=resolvers,
        resolvers_were_followed=True,
    )


def _choice(image: Image, machine: Machine, entry: int) -> int | None:
    """The address that a resolver returns, if its code is one path that ends with a constant."""
    try:
        resolver = control_flow_graph(image, machine, f"the resolver at {entry:#x}", entry)
    except (Unsupported, UserError):
        return None
    known: Known = {}
    block = resolver.blocks[resolver.entry]
    for _ in range(len(resolver.blocks)):
        propagate(block.ops, image, known)
        match block.exit:
            case Goto(to) | Return(_, to) if to is not None:
                block = resolver.blocks[to]
            case Return():
                value = known_value(machine.registers[machine.convention.result[0]], known)
                number = number_of(value)
                return None if number is None else _code(image, number)
            case _:
                return None
    return None


def _code(image: Image, address: int) -> int | None:
    address = image.aliases.get(address, address)
    known = address in image.externals and address not in image.resolvers
    return address if known or (address not in image.externals and image.code_at(address)) else None
