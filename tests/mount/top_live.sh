#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# k80-top in a terminal: draws, in whatever size; its keys; and the terminal is
# as it was, however it ends
. "$(dirname "$0")/lib.sh"
need_cmd python3
need_slot "a pin"
TOP=${K80FS%/*}/k80-top
[ -x "$TOP" ] || skip "k80-top is not built"
mount_sim
why=$("$TOP" "$M" 2>&1 </dev/null || :)
[[ $why != *'built without'* ]] || skip "built without ncurses"

cat >"$W/live.py" <<'END'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time
top, mount, daemon = sys.argv[1], sys.argv[2], int(sys.argv[3])
SOON = 60


class Screen:
    """a vt100, as far as it is used"""
    SEQUENCE = re.compile(r"\x1b(?:\[([?0-9;]*)([A-Za-z])|[()][AB0]|[=>78M])")

    def __init__(self, term, rows=24, columns=80, args=()):
        self.bytes = b""
        self.is_strict = term == "vt100"
        self.blank(rows, columns)
        master, slave = pty.openpty()
        self.fd, self.slave = master, slave
        self.size(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in 0, 1, 2:
                os.dup2(slave, fd)
            os.closerange(3, 100)
            os.environ.pop("LINES", None)
            os.environ.pop("COLUMNS", None)
            os.environ["TERM"] = term
            os.execv(top, [top, *args, mount])

    def blank(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.text = [[" "] * columns for _ in range(rows)]
        self.y = self.x = 0

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("4H", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.read()
        self.blank(rows, columns)
        self.size(rows, columns)

    def put(self, data):
        at = 0
        while at < len(data):
            m = self.SEQUENCE.match(data, at)
            c = data[at]
            at = m.end() if m else at + 1
            if m:
                if m.group(2):
                    self.control(m.group(1), m.group(2))
            elif c == "\r":
                self.x = 0
            elif c == "\n":
                self.y = min(self.y + 1, self.rows - 1)
            elif c == "\b":
                self.x = max(self.x - 1, 0)
            elif c == "\t":
                self.x = min((self.x // 8 + 1) * 8, self.columns - 1)
            elif c >= " ":
                if self.y < self.rows and self.x < self.columns:
                    self.text[self.y][self.x] = c
                self.x += 1

    def control(self, arguments, letter):
        n = [int(a or 0) for a in arguments.strip("?").split(";")]
        if letter == "H":
            self.y = max(n[0], 1) - 1
            self.x = max(n[1] if len(n) > 1 else 1, 1) - 1
        elif letter in "ABCD":
            step = max(n[0], 1)
            self.y += {"A": -step, "B": step}.get(letter, 0)
            self.x += {"C": step, "D": -step}.get(letter, 0)
        elif letter == "J" and n[0] in (0, 2):
            if n[0] == 2:
                self.y = self.x = 0
            self.clear(self.y, self.x)
            for y in range(self.y + 1, self.rows):
                self.clear(y, 0)
        elif letter == "K" and n[0] == 0:
            self.clear(self.y, self.x)
        elif letter == "K" and n[0] == 1 and self.y < self.rows:
            for x in range(min(self.x + 1, self.columns)):
                self.text[self.y][x] = " "
        elif letter not in "mrhl" and self.is_strict:
            raise SystemExit("not a vt100's: %s%s" % (arguments, letter))

    def clear(self, y, x):
        if y < self.rows:
            self.text[y][x:] = [" "] * (self.columns - min(x, self.columns))

    def read(self, seconds=0):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.bytes += data
            self.put(data.decode("latin-1"))
            seconds = 0

    def lines(self):
        return ["".join(row).rstrip() for row in self.text]

    def await_(self, what, condition):
        end = time.time() + SOON
        while not condition(self.lines()):
            if time.time() > end:
                raise SystemExit("never: %s; but:\n%s" % (
                    what, "\n".join(self.lines())))
            self.read(0.05)

    def has(self, text):
        self.await_("'%s'" % text, lambda l: any(text in s for s in l))

    def has_not(self, text):
        self.await_("no '%s'" % text, lambda l: not any(text in s for s in l))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def ends(self, exit_status=None, signalled=0):
        end = time.time() + SOON
        while True:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.time() > end:
                raise SystemExit("does not end")
        self.read(0.05)
        if signalled:
            assert os.WIFSIGNALED(status), status
            assert os.WTERMSIG(status) == signalled, status
        else:
            assert os.WIFEXITED(status), status
            assert os.WEXITSTATUS(status) == exit_status, (status, self.bytes)
        after = termios.tcgetattr(self.slave)
        assert after == self.before, (self.before, after)
        os.close(self.fd)
        os.close(self.slave)


def is_row(line):
    return re.match(r" +[0-9]+ (idle|active)", line) is not None


def n_rows(n):
    return lambda lines: sum(map(is_row, lines)) == n


def order(lines):
    return [int(line.split()[0]) for line in lines if is_row(line)]


def ctl(words):
    with open(mount + "/die0/ctl", "w") as f:
        f.write(words + "\n")


# a whole life, and every key
s = Screen("vt100", args=["-d", "0.3"])
s.await_("six dies", n_rows(6))
s.has("k80-top")
s.has(mount[:15])
s.has("by die")
s.await_("the names of the columns", lambda l: l[3].split() == [
    "DIE", "STATE", "SLOT%", "READ/s", "WRITE/s", "SWAPS/s", "WAIT", "ERR",
    "HOLD", "HOLDER"])
ctl("pin")
s.await_("a hold", lambda l: l[4].split()[8:10] == ["pin", str(os.getpid())])
s.await_("all of the slot", lambda l: l[4].split()[2] == "100.0")
ctl("unpin")
s.await_("no hold", lambda l: l[4].split()[8] == "none")
s.press("h")
s.has("any key: back")
s.has_not("SWAPS/s")
s.press("x")
s.await_("six dies again", n_rows(6))
s.press("s2.5x")
s.has_not("seconds between")
s.has("every 0.3 s")
s.press("d99\b\b\b7.\x7f\x7f0.25\n")
s.has("every 0.2 s")
s.press("s9999\n")
s.has("0.1 to 3600 seconds")
for key, name in ("T", "by traffic"), (">", "by waiting"), (">", "by waiting"), \
        ("N", "by die"), ("<", "by die"), ("W", "by waiting"), ("P", "by slot"):
    s.press(key)
    s.has(name)
s.press("N")
s.has("by die")
s.press("R")
s.has("reversed")
s.await_("the other way", lambda l: order(l) == [5, 4, 3, 2, 1, 0])
s.press("R")
s.await_("as before", lambda l: order(l) == [0, 1, 2, 3, 4, 5])
# sizes
for rows, columns, dies in (24, 40, 6), (7, 80, 3), (3, 20, 0), (1, 1, 0), \
        (2, 200, 0), (50, 132, 6), (24, 80, 6):
    s.resize(rows, columns)
    s.await_("%d dies in %dx%d" % (dies, rows, columns), lambda l: (
        n_rows(dies)(l) and l[0].startswith("k80-top"[:columns])))
s.press("q")
s.ends(0)

# where the terminal has another screen, that is left, and the cursor is there
s = Screen("xterm", args=["-n", "1", "-d", "0.1"])
s.ends(0)
assert s.bytes.rfind(b"\x1b[?1049l") > s.bytes.rfind(b"\x1b[?1049h") >= 0
assert s.bytes.rfind(b"\x1b[?25h") > s.bytes.rfind(b"\x1b[?25l") >= 0
# slower than the sum of its keys: a refresh
s = Screen("vt100", args=["-d", "3600"])
s.await_("six dies", n_rows(6))
s.await_("no rates", lambda l: l[4].split()[3] == "-")
s.press(" ")
s.await_("rates", lambda l: l[4].split()[3] == "0")
for name in "TERM", "INT", "HUP", "QUIT":
    number = getattr(signal, "SIG" + name)
    os.kill(s.pid, number)
    s.ends(signalled=number)
    s = Screen("vt100")
    s.await_("six dies", n_rows(6))
s.press("\x03")
s.ends(signalled=signal.SIGINT)
# no terminal
s = Screen("no-such-terminal")
s.ends(1)
assert b"TERM=no-such-terminal" in s.bytes, s.bytes
# a daemon that hangs: it is told, and the keys work
s = Screen("vt100", args=["-d", "0.1"])
s.await_("six dies", n_rows(6))
os.kill(daemon, signal.SIGSTOP)
s.has("no answer for")
s.press("q")
s.ends(0)
os.kill(daemon, signal.SIGCONT)
# the mount goes
s = Screen("vt100", args=["-d", "0.1"])
s.await_("six dies", n_rows(6))
open(mount + ".go", "w").close()
s.ends(1)
assert (b"k80-top: %s: unmounted" % mount.encode()) in s.bytes, s.bytes[-200:]
END
timeout 600 python3 "$W/live.py" "$TOP" "$M" "$(daemon_pid)" >"$W/log" 2>&1 &
python=$!
go() {
	[ -e "$M.go" ] || ! kill -0 $python 2>/dev/null
}
until go; do sleep 0.1; done
[ ! -e "$M.go" ] || unmount
wait $python || fail "$(cat "$W/log")"
