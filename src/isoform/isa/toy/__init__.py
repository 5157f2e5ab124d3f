"""The machine of the paper on switching statements between two programs: a few registers, no memory."""
