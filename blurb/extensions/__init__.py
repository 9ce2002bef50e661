"""Extensions of a finished benchmark. Delete this folder and tests/extensions, and everything else works."""
