"""What glibc is told, and that elsewhere nothing is."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

import pytest

from benchmarks.allocator import keep_memory


def told(monkeypatch: pytest.MonkeyPatch, libc: str, answer: int) -> tuple[str, dict[int, int]]:
    settings: dict[int, int] = {}

    class Library:
        def __init__(self, _: Any) -> None:
            pass

        def mallopt(self, parameter: int, value: int) -> int:
            settings[parameter] = value
            return answer

    monkeypatch.setattr(platform, "libc_ver", lambda: (libc, "2.36"))
    monkeypatch.setattr(ctypes, "CDLL", Library)
    return keep_memory(), settings


def test_glibc_is_told_to_keep_memory_in_one_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    text, settings = told(monkeypatch, "glibc", 1)
    assert set(settings) == {-1, -2, -3, -8}  # trim, top pad, mmap, arenas: malloc.h
    assert settings[-8] == 1
    assert settings[-1] == 2**31 - 1
    assert text.startswith("glibc 2.36, trim_threshold=2147483647")


def test_a_refusal_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = told(monkeypatch, "glibc", 0)
    assert "mmap_threshold refused" in text


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text, settings = told(monkeypatch, "musl", 1)
    assert settings == {}
    assert text.endswith("default, unchanged")
