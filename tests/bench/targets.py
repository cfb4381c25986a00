# SPDX-License-Identifier: GPL-2.0-or-later
"""The things that are compared, each a set of files for the client."""

import os
import re
import shutil
import signal
import subprocess
import time

DIES = 6
MOUNT_WAIT_S = 10
UNMOUNT_WAIT_S = 10


class BenchError(Exception):
    """a target or the client failed; the text says what was tried"""


def wait_for(what, seconds, is_done):
    """poll is_done() until it holds; BenchError after so many seconds"""
    end = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > end:
            raise BenchError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


class Files:
    """the die files themselves: no daemon"""

    pid = None

    def __init__(self, name, folder, extra=(), cells=""):
        self.name = name
        self.cells = cells  # how the names of the cells it takes part in begin
        self.folder = folder
        self.client_args = list(extra)

    def path(self, die):
        return os.path.join(self.folder, f"die{die}")

    def pin(self, cpus):
        """put the daemon on these CPUs; nothing to do without one"""

    def close(self):
        pass


class Mount(Files):
    """a daemon in the foreground, mounted"""

    def __init__(self, name, argv, mountpoint, log):
        super().__init__(name, mountpoint)
        os.makedirs(mountpoint, exist_ok=True)
        self.log = log
        with open(log, "ab") as out:
            # pylint: disable-next=consider-using-with
            self.proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                         stdout=out, stderr=out)
        self.pid = self.proc.pid
        try:
            wait_for(f"mount of {name}", MOUNT_WAIT_S, self._is_up)
        except BenchError:
            self.close()
            raise

    def _is_up(self):
        if self.proc.poll() is not None:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                tail = f.read()[-500:]
            raise BenchError(f"{self.name} exited with "
                             f"{self.proc.returncode}: {tail}")
        return os.path.ismount(self.folder)

    def pin(self, cpus):
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            try:
                os.sched_setaffinity(int(tid), cpus)
            except ProcessLookupError:
                pass

    def rss_anon_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1))

    def close(self):
        if os.path.ismount(self.folder):
            subprocess.run(["fusermount3", "-u", self.folder], check=False)
        try:
            self.proc.wait(UNMOUNT_WAIT_S)
        except subprocess.TimeoutExpired:
            self.proc.send_signal(signal.SIGKILL)
            self.proc.wait()
            if os.path.ismount(self.folder):
                subprocess.run(["fusermount3", "-u", "-z", self.folder],
                               check=False)


class K80fs(Mount):
    """the daemon under test on simulated dies in a folder"""

    def __init__(self, binary, store, vram, swap_us, work, log, extra=""):
        """extra: mount options; another tree beside one without them"""
        given = extra.split(",")
        mode = next((m for m in ("io_uring", "cache") if m in given), "")
        ring = mode == "io_uring"
        name = f"k80fs {mode} swap {swap_us} us".replace("  ", " ")
        tag = f"{swap_us}-{mode}"
        # a daemon locks its folder: each gets links to the same files
        sim_dir = f"{store}/sim-{tag}"
        os.makedirs(sim_dir)
        for die in range(DIES):
            os.link(f"{store}/die{die}", f"{sim_dir}/die{die}")
        options = (f"backend=sim,sim_dies={DIES},sim_vram={vram},"
                   f"sim_swap_us={swap_us},sim_dir={sim_dir},"
                   f"sim_ctl={work}/ctl-{tag}")
        if extra:
            options += f",{extra}"
        self.ring = ring
        self.swap_us = swap_us
        self.sim_dir = sim_dir
        super().__init__(name, [binary, "-f", "-o", options,
                                f"{work}/k80fs-{tag}"],
                         f"{work}/k80fs-{tag}", log)
        wait_for(f"tree of {name}", MOUNT_WAIT_S,
                 lambda: os.path.exists(self.path(DIES - 1)))

    def path(self, die):
        return os.path.join(self.folder, f"die{die}", "vram")

    def pin(self, cpus):
        # each ring has its CPU already, which is its client's
        if not self.ring:
            super().pin(cpus)

    def touch(self, die, mib):
        """read and rewrite the start of a die: its pages are then mapped, and
        known to be written to"""
        fd = os.open(self.path(die), os.O_RDWR)
        for i in range(mib):
            os.pwrite(fd, os.pread(fd, 1 << 20, i << 20), i << 20)
        os.close(fd)

    def close(self):
        super().close()
        shutil.rmtree(self.sim_dir, ignore_errors=True)

    def status(self, key, die=None):
        """of the root without a die"""
        folder = self.folder if die is None else f"{self.folder}/die{die}"
        with open(f"{folder}/status", encoding="utf-8") as f:
            for line in f:
                if line.startswith(key + " "):
                    return line[len(key) + 1:].strip()
        return "unknown"
