"""RISC-V with 64-bit registers: the integer instructions and those of the extension M."""
