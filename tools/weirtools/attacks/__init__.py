"""The attacks of tools/attack, a module for each kind. Each has `run(stage)`, which reports cases to the stage."""
