"""Builds the extension; what it is called and what it needs stands in pyproject.toml.

``KAFKA_ADMIN_PROTO_SANITIZE=1`` builds it with AddressSanitizer and UndefinedBehaviorSanitizer.
"""

from __future__ import annotations

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = "kafka_admin_proto_speed"
_SANITIZED = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-O1", "-g"]
#: What Cython itself leaves unused is no fault of ours.
_FLAGS = ["-O3", "-g0", "-Wno-unused-function"]

is_sanitized = os.environ.get("KAFKA_ADMIN_PROTO_SANITIZE") == "1"
flags = _SANITIZED if is_sanitized else [] if os.name == "nt" else _FLAGS
engine = Extension(
    f"{FOLDER}._engine",
    [f"{FOLDER}/_engine.pyx"],
    depends=[f"{FOLDER}/{each}" for each in sorted(os.listdir(FOLDER)) if each.endswith(".pxi")],
    extra_compile_args=flags,
    extra_link_args=_SANITIZED if is_sanitized else [],
)
setup(ext_modules=cythonize([engine]))
