#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker must find what is wrong: each bad trace here is one it flags."""

import re
import unittest

import excl

KIND = {"die": "vfio-user-pci", "rp": "pcie-root-port", "up": "x3130-upstream"}
# the guest's bus numbers
WHERE = {}
for card in range(3):
    bus = 4 * card + 1
    WHERE["rp%d" % card] = "00:%02x.0" % (card + 4)
    WHERE["up%d" % card] = "%02x:00.0" % bus
    for k, slot in enumerate(("08", "10")):
        WHERE["dn%d" % (2 * card + k)] = "%02x:%s.0" % (bus + 1, slot)
        WHERE["die%d" % (2 * card + k)] = "%02x:00.0" % (bus + 2 + k)


def w(name, off, val):
    """a line of the trace"""
    kind = KIND.get(name.rstrip("0123456789"), "xio3130-downstream")
    return "pci_cfg_write %s %s @0x%x <- 0x%x" % (kind, WHERE[name], off, val)


def mark(kind, arg):
    """a mark of the guest"""
    return "pci_cfg_write vfio-user-pci 00:1e.1 @0x40 <- 0x%x" % (kind << 24 | arg)


def buses():
    """the bus numbers, top-down"""
    for card in range(3):
        bus = 4 * card + 1
        yield w("rp%d" % card, 0x18, (bus + 3) << 16 | bus << 8)
        yield w("up%d" % card, 0x18, (bus + 3) << 16 | (bus + 1) << 8 | bus)
        for k in range(2):
            sub = bus + 2 + k
            yield w("dn%d" % (2 * card + k), 0x18, sub << 16 | sub << 8 | bus + 1)


def chain(die):
    """the ports above a die, top-down"""
    return ["rp%d" % (die // 2), "up%d" % (die // 2), "dn%d" % die]


def open_port(port):
    """both windows over the slot"""
    return [
        w(port, 0x20, 0xF5F0F300),
        w(port, 0x28, 0xC),
        w(port, 0x2C, 0xF),
        w(port, 0x24, 0xFFF10001),
    ]


def close_port(port):
    """both windows shut"""
    return [
        w(port, 0x2C, 0),
        w(port, 0x28, 0),
        w(port, 0x24, 0x1FFF1),
        w(port, 0x20, 0xFFF0),
    ]


def die_in(die):
    """BARs and decode"""
    name = "die%d" % die
    return [
        w(name, 0x10, 0xF3000000),
        w(name, 0x14, 0),
        w(name, 0x18, 0xC),
        w(name, 0x1C, 0xF4000000),
        w(name, 0x20, 0),
        w(name, 4, 2),
    ]


def swap_in(die):
    """all of an acquire"""
    return [x for p in chain(die) for x in open_port(p)] + die_in(die)


def swap_out(die):
    """all of a release"""
    return [w("die%d" % die, 4, 0)] + [
        x for p in reversed(chain(die)) for x in close_port(p)
    ]


def die0_log():
    """what die 0 logs of swap_in(0)"""
    for a, b in re.findall(r"@0x(\w+) <- 0x(\w+)", "\n".join(die_in(0))):
        yield "1.0 die0: cfg[%s]/4 <- %s" % (a, b)


def replay(*parts, log=None):
    """run lines after the bus numbers"""
    r = excl.Replay({1: "job"}, log and excl.die_logs(log))
    r.run(list(buses()) + [x for part in parts for x in part])
    return r


class Good(unittest.TestCase):
    """traces without a fault"""

    def test_swaps_in_turn_pass(self):
        r = replay(*(f(d) for d in range(6) for f in (swap_in, swap_out)))
        self.assertEqual(r.bad, [])
        self.assertEqual((r.most, r.unknown), (1, 0))

    def test_stale_bars_without_decode_pass(self):
        r = replay(swap_in(0), swap_out(0), swap_in(3))
        self.assertEqual(r.bad, [])

    def test_bus_reset_takes_the_die_out(self):
        r = replay(
            swap_in(0),
            [w("dn0", 0x3E, 0x40), w("dn0", 0x3E, 0)],
            [x for p in reversed(chain(0)) for x in close_port(p)],
            swap_in(1),
        )
        self.assertEqual(r.bad, [])


    def test_ignored_write_has_no_effect(self):
        end = die_in(3)
        log = [
            "1.0 die3: cfg[%s]/4 <- %s%s" % (a, b, " ignored" * (a == "4"))
            for a, b in re.findall(r"@0x(\w+) <- 0x(\w+)", "\n".join(end))
        ]
        r = replay(end, swap_in(0), log=log + list(die0_log()))
        self.assertEqual((r.bad, r.lost), ([], []))


    def test_excused_driver_lets_its_die_decode_for_one_write(self):
        r = replay(swap_in(1), [mark(4, 0), w("die0", 4, 2), w("die0", 4, 0)])
        self.assertEqual((r.bad, r.most), ([], 1))


class Bad(unittest.TestCase):
    """each of these must be found"""

    def assert_found(self, r, text):
        """some finding says so"""
        self.assertTrue(any(text in b for b in r.bad), r.bad)

    def test_two_dies_decode(self):
        r = replay(swap_in(0), die_in(3))
        self.assert_found(r, "die0 and die3 decode")

    def test_two_dies_decode_for_one_write_only(self):
        r = replay(swap_in(0), die_in(3), [w("die0", 4, 0)])
        self.assert_found(r, "die0 and die3 decode")
        self.assertEqual(len(r.bad), 1)

    def test_excused_die_must_stop_with_the_next_write(self):
        on = [mark(4, 0), w("die0", 4, 2)]
        r = replay(swap_in(1), on, [w("die2", 4, 0)])
        self.assert_found(r, "die0 and die1 decode")

    def test_excuse_serves_once(self):
        on = [w("die0", 4, 2), w("die0", 4, 0)]
        r = replay(swap_in(1), [mark(4, 0)], on, on)
        self.assert_found(r, "die0 and die1 decode")

    def test_excuse_is_of_one_die_and_job(self):
        on = [w("die0", 4, 2), w("die0", 4, 0)]
        r = replay(swap_in(1), [mark(4, 2)], on)
        self.assert_found(r, "die0 and die1 decode")
        r = replay(swap_in(1), [mark(4, 0), mark(1, 1)], on)
        self.assert_found(r, "die0 and die1 decode")

    def test_excuse_does_not_open_a_port(self):
        on = [w("die1", 4, 2), w("die1", 4, 0)]
        r = replay(swap_in(0), open_port("dn1"), [mark(4, 1)], on)
        self.assert_found(r, "die0 and die1 decode")

    def test_sibling_port_left_open(self):
        r = replay(swap_in(0), [w("die0", 4, 0)], open_port("dn1"))
        self.assert_found(r, "open beside")

    def test_other_card_opened_too_early(self):
        r = replay(swap_in(0), [w("die0", 4, 0)], open_port("rp2"))
        self.assert_found(r, "rp2")

    def test_half_closed_window_counts_as_open(self):
        half = [w("dn0", 0x24, 0x1FFF1), w("dn0", 0x20, 0xFFF0)]
        r = replay(open_port("dn0"), half, open_port("dn1"))
        self.assert_found(r, "open beside")

    def test_reset_of_the_wrong_port_does_not_count(self):
        r = replay(swap_in(0), [w("dn1", 0x3E, 0x40)], die_in(3))
        self.assert_found(r, "die0 and die3 decode")

    def test_write_in_quiet_is_recorded(self):
        r = replay([mark(1, 1), mark(2, 7), w("die0", 4, 0), mark(3, 7)])
        self.assertEqual(r.quiet_done, [["job", 7, ["die0 @0x4"]]])

    def test_quiet_of_some_cards_lets_the_others_be(self):
        r = replay([mark(2, 1 << 16 | 7), w("die3", 4, 0), mark(3, 7)])
        self.assertEqual(r.quiet_done, [["start", 7, []]])
        r = replay([mark(2, 1 << 16 | 7), w("up0", 4, 0), mark(3, 7)])
        self.assertEqual(r.quiet_done, [["start", 7, ["up0 @0x4"]]])

    def test_final_state_that_differs_is_found(self):
        r = replay(swap_in(0))
        dump = "0000:03:00.0 " + "00" * 64
        self.assertEqual(
            excl.check_final(r, [dump]), ["die0: ranges", "die0: COMMAND"]
        )

    def test_write_that_did_not_reach_its_die_is_found(self):
        log = ["1.0 die0: cfg[004]/2 <- 0"]
        r = replay([w("die0", 4, 0), w("die0", 4, 2)], log=log)
        self.assertEqual(r.lost, ["die0 lost 0x4 <- 0x2"])

    def test_unknown_device_is_counted(self):
        r = replay(["pci_cfg_write vfio-user-pci 44:00.0 @0x4 <- 0x2"])
        self.assertEqual(r.unknown, 1)


if __name__ == "__main__":
    unittest.main()
