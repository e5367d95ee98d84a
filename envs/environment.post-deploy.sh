#!/usr/bin/env bash
# Run in the project's root, inside the environment that environment.yaml makes: the locked packages, then this library.
set -euo pipefail
python -m pip install --quiet --require-hashes --no-deps -r envs/requirements.lock
python -m pip install --quiet --no-deps --no-build-isolation -e .
