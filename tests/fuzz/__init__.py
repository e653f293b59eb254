"""What coverage-guided fuzzing runs: one module a target, each with ``one_input`` and ``seeds``.

Nothing here needs atheris but ``run.py``; ``test_targets.py`` replays seeds and findings.
"""
