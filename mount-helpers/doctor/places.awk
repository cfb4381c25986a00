# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the slot is in the iomem tree, and where else it could be. The rules
# are those of kmod/room.c and bs_slot_check() in kmod/window.h.
#
# In: facts, one a line, then /proc/iomem.
#	@bits N			physical address bits of the CPU
#	@slot NAME HEX		bar0, bar0_size, ... bar3_size
#	@root BUS		a root bus with dies below it
#	@own NAME		a resource of a chain that the module takes
#	@own-any		no die is there: all that bridges pass on
#	@bridge BDF		a bridge of a chain
#	@port BDF START END	its own BAR
#	@shun HEX		not to be advised if there is another place
# Out, separated by tabs:
#	verdict bar1|low WHY TEXT	WHY: ok, or what is wrong in a word
#	root BUS			the root bus whose windows were judged
#	place bar1|low FIRST LAST COUNT STATE WINDOW TEXT
#	pick bar1 ADDRESS | pick low BAR0 BAR3	a place in a window
#	override ADDRESS END		a place that needs a window
#	high START-END			the last window above 4 GiB
#	belongs RANGE BUS		another host bridge has the slot
#
# Numbers are written in hexadecimal only: to awk they are doubles, and mawk
# cuts what it prints in decimal.

function num(h,    i, v)
{
	v = 0
	h = tolower(h)
	for (i = 1; i <= length(h); i++)
		v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
	return v
}

function hex(v,    s, d)
{
	do {
		d = v - int(v / 16) * 16
		s = substr("0123456789abcdef", d + 1, 1) s
		v = int(v / 16)
	} while (v > 0)
	return "0x" s
}

function max(a, b)
{
	return a > b ? a : b
}

function range(a, b)
{
	return hex(a) "-" hex(b)
}

function is_multiple(v, of)
{
	return v == int(v / of) * of
}

function is_power(v)
{
	while (v > 1)
		v /= 2
	return v == 1
}

function say(a, b, c, d, e, f, g, h)
{
	print a "\t" b "\t" c "\t" d "\t" e "\t" f "\t" g "\t" h
}

function is_own(i)
{
	return name[i] in own || name[i] ~ /^bar_swap/ ||
	       own_any && name[i] ~ /^PCI Bus /
}

function describe(i)
{
	return name[i] " at " text[i]
}

function is_window(i, root)
{
	return name[i] == "PCI Bus " root
}

function window_of(root, a, b,    i)
{
	for (i = 1; i <= n; i++)
		if (is_window(i, root) && start[i] <= a && end[i] >= b)
			return i
	return 0
}

function in_window(a, b,    r)
{
	for (r = 1; r <= n_roots; r++)
		if (window_of(root[r], a, b))
			return 1
	return 0
}

function block(a, b, what)
{
	n_block++
	block_start[n_block] = a
	block_end[n_block] = b
	block_what[n_block] = what
}

function block_children(w,    i)
{
	for (i = w + 1; i <= n && depth[i] > depth[w]; i++)
		if (parent[i] == w && !is_own(i))
			block(start[i], end[i], describe(i))
}

# What the module refuses: RAM first, then what is in the window, then the
# BARs of the ports. Window 0: outside of all windows of the dies' bridges.
function block_all(w,    i, r)
{
	n_block = 0
	for (i = 1; i <= n; i++)
		if (name[i] ~ /System RAM/)
			block(start[i], end[i], describe(i))
	if (w)
		block_children(w)
	for (i = 1; i <= n && !w; i++) {
		for (r = 1; r <= n_roots; r++)
			if (is_window(i, root[r]))
				break
		if (r <= n_roots)
			block_children(i)
		else if (!depth[i] && name[i] !~ /System RAM/)
			block(start[i], end[i], describe(i))
	}
	for (i = 1; i <= n; i++)
		if (name[i] in bridge)
			block(start[i], end[i], "a BAR of port " describe(i))
	for (i = 1; i <= n_ports; i++)
		block(port_start[i], port_end[i], "a BAR of port " port[i] \
		      " at " range(port_start[i], port_end[i]))
}

function hit(a, b,    i)
{
	for (i = 1; i <= n_block; i++)
		if (block_start[i] <= b && block_end[i] >= a)
			return i
	return 0
}

# The candidates FIRST + k * STEP of LEN bytes between FROM and TO, in runs.
# Returns how many runs are free; they are run_first, run_count[1..].
function walk(kind, first, step, len, from, to, w,    c, x, i, stop, k, free)
{
	c = first - int((first - from) / step) * step
	if (c < from)
		c += step
	while (c - step >= from)
		c -= step
	free = 0
	while (c + len - 1 <= to) {
		x = hit(c, c + len - 1)
		stop = to
		for (i = 1; i <= n_block && !x; i++)
			if (block_start[i] > c && block_start[i] <= stop)
				stop = block_start[i] - 1
		if (x)
			k = int((block_end[x] - c) / step) + 1
		else
			k = int((stop - len + 1 - c) / step) + 1
		i = int((to - len + 1 - c) / step) + 1
		if (k > i)
			k = i
		# outside: what lies in a window has been shown
		if (w || !in_window(c, c + (k - 1) * step + len - 1))
			say("place", kind, hex(c), hex(c + (k - 1) * step), k,
			    x ? "blocked" : "free",
			    w ? text[w] " (" name[w] ")" : "-",
			    x ? block_what[x] : "-")
		if (!x) {
			free++
			run_first[free] = c
			run_count[free] = k
		}
		c += k * step
	}
	return free
}

function run_has(i, step, a)
{
	return a >= run_first[i] && a < run_first[i] + run_count[i] * step &&
	       is_multiple(a - run_first[i], step)
}

# The best of FREE runs: the wanted one, the default, then the lowest.
function best_bar1(free, wanted,    i)
{
	for (i = 1; i <= free; i++)
		if (wanted != "" && run_has(i, size1, wanted))
			return wanted
	for (i = 1; i <= free; i++)
		if (run_has(i, size1, num("c00000000")))
			return num("c00000000")
	for (i = 1; i <= free; i++) {
		if (run_first[i] != shun)
			return run_first[i]
		if (run_count[i] > 1)
			return run_first[i] + size1
	}
	return free ? run_first[1] : ""
}

function better(old, new)
{
	if (old == "" || new == num("c00000000") || old == shun)
		return new
	return old
}

# no "^": busybox can be without it
function limit(    v, i)
{
	v = 1
	for (i = 0; i < bits; i++)
		v *= 2
	return v - 1
}

function min(a, b)
{
	return a < b ? a : b
}

function look_for_bar1(r,    i, free)
{
	for (i = 1; i <= n; i++) {
		if (!is_window(i, root[r]))
			continue
		block_all(i)
		block(low_start, low_end, "bar0 and bar3")
		free = walk("bar1", 0, size1, size1, start[i],
			    min(end[i], limit()), i)
		if (free)
			found1[r] = better(found1[r], best_bar1(free, ""))
	}
}

# BAR0 and BAR3 side by side, the smaller one before or behind the other. Of
# the free places the highest: the kernel gives addresses out from below.
function look_for_low(r, is_behind,    i, free, step, room, first, at)
{
	step = max(max(size0, size3), 1048576)
	room = size3 ? max(min(size0, size3), 1048576) : 0
	first = is_behind ? 0 : step - room
	for (i = 1; i <= n; i++) {
		if (!is_window(i, root[r]) || start[i] >= GIB4)
			continue
		block_all(i)
		block(bar1, bar1 + size1 - 1, "bar1")
		free = walk("low", first, step, step + room, start[i],
			    min(end[i], GIB4 - 1), i)
		if (!free)
			continue
		at = run_first[free] + (run_count[free] - 1) * step
		if (size0 > size3 && size3) {
			found0[r] = is_behind ? at : at + room
			found3[r] = is_behind ? at + step : at + room - size3
		} else {
			found3[r] = is_behind ? at : at + room
			found0[r] = at
			if (size3)
				found0[r] += is_behind ? step : room - size0
		}
	}
}

function look_for_override(    free, first)
{
	block_all(0)
	block(0, GIB4 - 1, "what is below 4 GiB")
	free = walk("bar1", 0, size1, size1, GIB4, limit(), 0)
	first = best_bar1(free, bar1)
	if (first != "")
		say("override", hex(first), hex(first + size1 - 1))
}

function is_sane(a, size)
{
	return size >= 16 && is_power(size) && is_multiple(a, size)
}

function geometry(kind)
{
	if (kind == "bar1") {
		if (!is_sane(bar1, size1))
			return "bar1 is not a power of two aligned to itself"
		if (size1 < 1048576)
			return "bar1 is smaller than a bridge window can be"
		return ""
	}
	if (!is_sane(bar0, size0))
		return "bar0 is not a power of two aligned to itself"
	if (size3 && !is_sane(bar3, size3))
		return "bar3 is not a power of two aligned to itself"
	if (low_end >= GIB4)
		return "bar0 and bar3 must lie below 4 GiB"
	if (size3 && bar0 <= bar3 + size3 - 1 && bar3 <= bar0 + size0 - 1)
		return "bar0 and bar3 overlap"
	return ""
}

# What the module would say of the range: sets why and what.
function judge(kind, r, a, b,    w, i)
{
	why = "geometry"
	what = geometry(kind)
	if (what != "")
		return
	w = window_of(root[r], a, b)
	block_all(w)
	for (i = 1; i <= n; i++) {
		if (name[i] !~ /System RAM/ || start[i] > b || end[i] < a)
			continue
		why = "ram"
		what = range(a, b) " holds " describe(i)
		return
	}
	why = "overlap"
	what = "bar1 overlaps the window of bar0 and bar3"
	if (kind == "bar1" && bar1 <= low_end && low_start <= bar1 + size1 - 1)
		return
	i = hit(a, b)
	if (!w) {
		why = "window"
		what = "no host bridge window contains " range(a, b) \
		       (i ? ", and " block_what[i] " is there" : "")
		return
	}
	why = "ok"
	what = range(a, b) " lies in " text[w] " " name[w]
	if (!i)
		return
	why = block_what[i] ~ /^a BAR of port/ ? "port" : "stranger"
	what = range(a, b) " holds " block_what[i]
}

function verdicts(r)
{
	judge("bar1", r, bar1, bar1 + size1 - 1)
	say("verdict", "bar1", why, what)
	is_ok1 = why == "ok"
	judge("low", r, low_start, low_end)
	say("verdict", "low", why, what)
	is_ok0 = why == "ok"
}

function belongs(    i, r)
{
	for (i = 1; i <= n; i++) {
		if (name[i] !~ /^PCI Bus / || start[i] > bar1 ||
		    end[i] < bar1 + size1 - 1)
			continue
		for (r = 1; r <= n_roots; r++)
			if (is_window(i, root[r]))
				return
		say("belongs", text[i], substr(name[i], 9))
		return
	}
}

BEGIN { GIB4 = 4294967296 }

/^@bits/ { bits = $2; next }
/^@slot/ { slot[$2] = num($3); next }
/^@root/ { root[++n_roots] = $2; next }
/^@own-any/ { own_any = 1; next }
/^@own/ { sub(/^@own /, ""); own[$0]; next }
/^@bridge/ { bridge[$2]; next }
/^@shun/ { shun = num($2); next }
/^@port/ {
	port[++n_ports] = $2
	port_start[n_ports] = num($3)
	port_end[n_ports] = num($4)
	next
}
/^ *[0-9a-f]+-[0-9a-f]+ : / {
	n++
	match($0, /^ */)
	depth[n] = RLENGTH
	text[n] = $1
	split($1, ends, "-")
	start[n] = num(ends[1])
	end[n] = num(ends[2])
	name[n] = $0
	sub(/^[^:]*: /, "", name[n])
	for (parent[n] = n - 1; parent[n]; parent[n] = parent[parent[n]])
		if (depth[parent[n]] < depth[n])
			break
}

END {
	bar0 = slot["bar0"]; size0 = slot["bar0_size"]
	bar1 = slot["bar1"]; size1 = slot["bar1_size"]
	bar3 = slot["bar3"]; size3 = slot["bar3_size"]
	low_start = size3 ? min(bar0, bar3) : bar0
	low_end = size3 ? max(bar0 + size0, bar3 + size3) : bar0 + size0
	low_start -= low_start - int(low_start / 1048576) * 1048576
	low_end = int((low_end + 1048575) / 1048576) * 1048576 - 1

	# the host bridge that has both windows, else the last
	for (r = 1; r < n_roots; r++)
		if (window_of(root[r], bar1, bar1 + size1 - 1) &&
		    window_of(root[r], low_start, low_end))
			break
	verdicts(r)
	for (i = 1; i <= n; i++)
		if (is_window(i, root[r]) && start[i] >= GIB4)
			high = text[i]
	if (high != "")
		say("high", high)
	belongs()
	say("root", root[r])

	if (!is_power(size1) || size1 < 1048576 || !is_power(size0) ||
	    size3 && !is_power(size3))
		exit
	for (i = 1; i <= n_roots; i++) {
		look_for_bar1(i)
		look_for_low(i, 0)
		if (found0[i] == "")
			look_for_low(i, 1)
		has1 = is_ok1 && i == r || found1[i] != ""
		has0 = is_ok0 && i == r || found0[i] != ""
		if (!pick || has1 + has0 > pick_has ||
		    has1 + has0 == pick_has && i == r) {
			pick = i
			pick_has = has1 + has0
		}
	}
	if (found1[pick] != "")
		say("pick", "bar1", hex(found1[pick]))
	if (found0[pick] != "")
		say("pick", "low", hex(found0[pick]), hex(found3[pick]))
	if (found1[pick] == "" && !is_ok1)
		look_for_override()
}
