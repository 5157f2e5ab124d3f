"""RISC-V with 64-bit registers: the integer instructions and those of the extensions M and C."""
