# SPDX-License-Identifier: GPL-2.0-or-later
"""What machine a run was made on."""

import os
import platform
import re
import subprocess


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def _first(pattern, text):
    m = re.search(pattern, text, re.M)
    return m.group(1).strip() if m else "unknown"


def _output(*cmd):
    try:
        return subprocess.run(cmd, capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _caches():
    base = "/sys/devices/system/cpu/cpu0/cache"
    out = []
    for i in range(8):
        level = _read(f"{base}/index{i}/level").strip()
        kind = _read(f"{base}/index{i}/type").strip()
        size = _read(f"{base}/index{i}/size").strip()
        if level and kind != "Instruction":
            out.append(f"L{level} {size}")
    return ", ".join(out) or "unknown"


def collect():
    """name -> text, in the order to print"""
    cpu = _read("/proc/cpuinfo")
    flags = _first(r"^flags\s*:(.*)$", cpu).split()
    wanted = ("sse4_1", "avx2", "avx512f", "erms", "fsrm", "hypervisor")
    mem = int(_first(r"^MemTotal:\s+(\d+)", _read("/proc/meminfo")) or 0)
    uring = _read("/sys/module/fuse/parameters/enable_uring").strip()
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return {
        "cpu": f"{os.cpu_count()} x {_first(r'^model name.*:(.*)$', cpu)}, "
               f"family {_first(r'^cpu family.*:(.*)$', cpu)}",
        "flags": " ".join(f for f in wanted if f in flags),
        "caches": _caches(),
        "governor": governor.strip() or "not shown",
        "memory": f"{mem // 1024} MiB",
        "kernel": platform.release(),
        "libfuse": _output("pkg-config", "--modversion", "fuse3"),
        "libc": " ".join(platform.libc_ver()),
        "fuse over io_uring": {"Y": "allowed", "N": "off"}.get(
            uring, "not in this kernel"),
        "shmem huge pages": _first(
            r"\[(.*)\]",
            _read("/sys/kernel/mm/transparent_hugepage/shmem_enabled")),
        "load at start": " ".join(
            f"{x:.2f}" for x in os.getloadavg()),
        "source": _output("git", "describe", "--always", "--dirty"),
    }
