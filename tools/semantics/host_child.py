"""The child process of `host_oracle`: runs single instructions between a prologue and an epilogue that load and
store every register. It imports nothing of isoform; addresses and formats are those of its parent.

A fault is caught by a handler in machine code, on a stack of its own, that sends control to the epilogue.
"""

from __future__ import annotations

import ctypes
import resource
import sys

DATA, CODE, WORK = 0x2000_0000, 0x3000_0000, 0x3000_1000
DATA_SIZE, CODE_SIZE, WORK_SIZE = 0x2000, 0x1000, 0x3000
REGISTERS_SIZE = 16 * 8 + 8 + 512
BEFORE, AFTER = WORK, WORK + 0x400
OWN_STACK, SIGNAL = WORK + 0x800, WORK + 0x808
ENTRY, HANDLER, SIGNAL_STACK = WORK + 0x900, WORK + 0xF00, WORK + 0x1000
INSTRUCTION = CODE
FLAGS_AT, VECTORS_AT = 128, 136
RIP_IN_CONTEXT = 168
RSP = 4
SAVED = (3, 5, 12, 13, 14, 15)
MAP_FIXED_PRIVATE_ANONYMOUS = 0x10 | 0x02 | 0x20
ON_STACK, NO_DEFER, SIGINFO = 0x08000000, 0x40000000, 4
SIGNALS = (4, 5, 7, 8, 11)


def absolute(opcode: bytes, register: int, address: int, wide: bool = True) -> bytes:
    """An instruction on a register and the memory at a 32-bit absolute address."""
    rex = 0x40 | wide << 3 | (register >> 3) << 2
    return bytes([rex]) + opcode + bytes([(register & 7) << 3 | 4, 0x25]) + address.to_bytes(4, "little")


def load(register: int, address: int) -> bytes:
    return absolute(b"\x8b", register, address)


def store(register: int, address: int) -> bytes:
    return absolute(b"\x89", register, address)


def vector_move(opcode: int, register: int, address: int) -> bytes:
    """`vmovdqu` of a 256-bit register."""
    head = bytes([0xC5, (0x7E if register >= 8 else 0xFE), opcode])
    return head + bytes([(register & 7) << 3 | 4, 0x25]) + address.to_bytes(4, "little")


def push(register: int) -> bytes:
    return (b"\x41" if register >= 8 else b"") + bytes([0x50 | register & 7])


def pop(register: int) -> bytes:
    return (b"\x41" if register >= 8 else b"") + bytes([0x58 | register & 7])


def jump(at: int, target: int) -> bytes:
    return b"\xe9" + ((target - at - 5) & 0xFFFFFFFF).to_bytes(4, "little")


def prologue() -> bytes:
    code = b"".join(push(n) for n in SAVED) + store(RSP, OWN_STACK)
    code += b"".join(vector_move(0x6F, n, BEFORE + VECTORS_AT + 32 * n) for n in range(16))
    code += b"\xff\x34\x25" + (BEFORE + FLAGS_AT).to_bytes(4, "little") + b"\x9d"
    code += b"".join(load(n, BEFORE + 8 * n) for n in range(16))
    return code + jump(ENTRY + len(code), INSTRUCTION)


def epilogue() -> bytes:
    code = b"".join(store(n, AFTER + 8 * n) for n in range(16)) + load(RSP, OWN_STACK)
    code += b"\x9c\x8f\x04\x25" + (AFTER + FLAGS_AT).to_bytes(4, "little") + b"\xfc"
    code += b"".join(vector_move(0x7F, n, AFTER + VECTORS_AT + 32 * n) for n in range(16))
    return code + b"\xc5\xf8\x77" + b"".join(pop(n) for n in reversed(SAVED)) + b"\xc3"


def handler(target: int) -> bytes:
    """Notes the signal's number and has the interrupted code go on at the epilogue."""
    note = b"\x89\x3c\x25" + SIGNAL.to_bytes(4, "little")
    redirect = b"\x48\xc7\x82" + RIP_IN_CONTEXT.to_bytes(4, "little") + target.to_bytes(4, "little")
    return note + redirect + b"\xc3"


class SignalAction(ctypes.Structure):
    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


class AlternateStack(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


def prepare() -> int:
    """Maps memory, writes the code and installs the handler; the address of the epilogue."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    for address, size, protection in ((DATA, DATA_SIZE, 3), (CODE, CODE_SIZE, 7), (WORK, WORK_SIZE, 7)):
        if libc.mmap(address, size, protection, MAP_FIXED_PRIVATE_ANONYMOUS, -1, 0) != address:
            sys.exit("the addresses of the data are not free")
    start = prologue()
    finish_at = ENTRY + len(start)
    ctypes.memmove(ENTRY, start + epilogue(), len(start) + len(epilogue()))
    ctypes.memmove(HANDLER, handler(finish_at), len(handler(finish_at)))
    stack = AlternateStack(SIGNAL_STACK, 0, 0x2000)
    libc.sigaltstack(ctypes.byref(stack), None)
    action = SignalAction(handler=HANDLER, flags=ON_STACK | NO_DEFER | SIGINFO)
    for number in SIGNALS:
        libc.sigaction(number, ctypes.byref(action), None)
    return finish_at


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    finish_at = prepare()
    enter = ctypes.CFUNCTYPE(None)(ENTRY)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    request = 1 + 16 + REGISTERS_SIZE + DATA_SIZE
    while len(data := source.read(request)) == request:
        length = data[0]
        code = data[1 : 1 + length] + jump(INSTRUCTION + length, finish_at)
        ctypes.memmove(INSTRUCTION, code, len(code))
        ctypes.memmove(BEFORE, data[17 : 17 + REGISTERS_SIZE], REGISTERS_SIZE)
        ctypes.memmove(DATA, data[17 + REGISTERS_SIZE :], DATA_SIZE)
        ctypes.memset(SIGNAL, 0, 4)
        enter()
        sink.write(ctypes.string_at(SIGNAL, 4) + ctypes.string_at(AFTER, REGISTERS_SIZE))
        sink.write(ctypes.string_at(DATA, DATA_SIZE))
        sink.flush()


if __name__ == "__main__":
    main()
