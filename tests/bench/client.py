# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of the client program."""

import json
import subprocess

from targets import BenchError


def command(run, target, args, paths, ms, warm_ms=0, cpu=None):
    argv = [run.client, "-t", str(int(ms)), "-w", str(int(warm_ms)), "-D",
            "-s", f"{run.set_mib}M"]
    argv += target.client_args + args
    if cpu is not None:
        argv += ["-c", str(cpu)]
    if target.pid:
        argv += ["-P", str(target.pid)]
    return argv + paths


def start(argv):
    # pylint: disable-next=consider-using-with
    return subprocess.Popen(argv, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def finish(proc, limit_s=120):
    """the client's line as a dict"""
    try:
        out, err = proc.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        proc.kill()
        proc.communicate()
        raise BenchError(f"{' '.join(proc.args)}: no end after {limit_s} s") \
            from None
    if proc.returncode:
        raise BenchError(f"{' '.join(proc.args)}: {err.strip()}")
    return json.loads(out)


def cell(run, target, args, paths, ms, warm_ms=0, cpu=None):
    return finish(start(command(run, target, args, paths, ms, warm_ms, cpu)))
