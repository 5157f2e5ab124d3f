"""An 18-instruction MIPS without delay slots, in which students write their first programs."""
