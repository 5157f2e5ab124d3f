"""The differential fuzzer of single instructions: our micro-ops against CPUs that share nothing with them."""
