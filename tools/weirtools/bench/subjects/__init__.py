"""The benchmarks, a module each: what tools/bench runs by name."""
