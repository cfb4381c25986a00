# SPDX-License-Identifier: GPL-2.0-or-later
#
# What k80-doctor found, as text or, with -v json=1, as one JSON document.
# -v quiet=1: problems only. In: records, fields separated by tabs.
#	check STATE NAME CODE FOUND
#	todo TEXT			of the check before it
#	place bar1|low FIRST LAST COUNT STATE WINDOW TEXT NOTE
#	fact NAME VALUE			for JSON alone
#	list NAME WORD...

BEGIN { FS = "\t" }

function quoted(s)
{
	gsub(/\\/, "&&", s)
	gsub(/"/, "\\\"", s)
	return "\"" s "\""
}

function member(key, s)
{
	return quoted(key) ": " quoted(s)
}

function count(n, one, many)
{
	return n " " (n == 1 ? one : many)
}

function list(words,    i, n, w, s)
{
	n = split(words, w, " ")
	for (i = 1; i <= n; i++)
		s = s (i > 1 ? ", " : "") quoted(w[i])
	return "[" s "]"
}

function text_place(    s)
{
	s = $3
	if ($5 > 1)
		s = s " to " $4 ", " $5 " places"
	s = s ": " ($6 == "free" ? "free" : "blocked by " $8)
	s = s ($7 == "-" ? ", in no window" : ", in " $7)
	if ($9 != "-")
		s = s "; " $9
	printf "place    %-18s %s\n", $2 == "low" ? "bar0-bar3" : $2, s
}

$1 == "check" {
	n_checks++
	states[$2]++
	is_shown = !quiet || $2 != "ok"
	checks = checks (n_checks > 1 ? "]},\n    " : "    ") \
		 "{" member("check", $3) ", " member("state", $2) \
		 ($4 == "-" ? "" : ", " member("code", $4)) \
		 ", " member("found", $5) ", \"todo\": ["
	n_todo = 0
	if (!json && is_shown)
		printf "%-8s %-18s %s\n", $2, $3, $5
}

$1 == "todo" {
	checks = checks (n_todo++ ? ", " : "") quoted($2)
	if (!json && is_shown)
		printf "         %-18s -> %s\n", "", $2
}

$1 == "place" {
	places = places (n_places++ ? ",\n    " : "    ") \
		 "{" member("bar", $2 == "low" ? "bar0-bar3" : $2) ", " \
		 member("first", $3) ", " member("last", $4) ", \"count\": " $5 \
		 ", " member("state", $6) \
		 ($7 == "-" ? "" : ", " member("window", $7)) \
		 ($8 == "-" ? "" : ", " member("by", $8)) \
		 ($9 == "-" ? "" : ", " member("note", $9)) "}"
	if (!json && is_shown)
		text_place()
}

$1 == "fact" { values = values "  " member($2, $3) ",\n" }
$1 == "list" { values = values "  " quoted($2) ": " list($3) ",\n" }

END {
	n_problems = states["problem"] + 0
	n_unknown = states["unknown"] + 0
	is_ready = !n_problems && !n_unknown
	if (json) {
		printf "{\n  \"ready\": %s,\n", is_ready ? "true" : "false"
		printf "  \"problems\": %d,\n  \"unknown\": %d,\n", n_problems,
		       n_unknown
		printf "%s", values
		printf "  \"checks\": [\n%s%s\n  ],\n", checks,
		       n_checks ? "]}" : ""
		printf "  \"places\": [\n%s\n  ]\n}\n", places
	} else if (n_problems) {
		print n_problems " to mend"
	} else if (n_unknown) {
		print count(n_unknown, "check was", "checks were") " not possible"
	} else if (!quiet) {
		print "ready"
	}
	exit n_problems ? 1 : n_unknown ? 3 : 0
}
