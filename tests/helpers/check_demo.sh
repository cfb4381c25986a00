# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# tests/demo.sh: its round trip, and the mounts that are none of its business.

# demo ARGS...: the script in a tree of its own, with the k80fs that was built
demo()
{
	run bash tree/tests/demo.sh "$@"
}

# need_demo: ./tree with the script, ./dir to mount on
need_demo()
{
	need_fuse
	[ -x "$TOP/build/k80fs" ] || skip "needs build/k80fs"
	mkdir -p tree/tests tree/build tree/mount-helpers dir
	cp "$TOP/tests/demo.sh" tree/tests/
	cp "$HELPERS/mount.k80fs" "$HELPERS/umount.k80fs" tree/mount-helpers/
	ln -s "$TOP/build/k80fs" tree/build/k80fs
}

n_mounts()
{
	findmnt -n -r -o TARGET | grep -cFx "$WORK/dir"
}

# simulator DIR: six small dies, by somebody else than the demo
simulator()
{
	"$TOP/build/k80fs" -o backend=sim,sim_vram=64M "$1"
	echo precious | dd of="$1/die0/vram" conv=notrunc status=none
}

test_round_trip_and_stop()
{
	need_demo
	demo start "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line 'gave them back unchanged' out
	expect_line "make demo-stop DEMO_DIR=$WORK/dir" out
	demo stop "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
	expect '' "$(ls tree/build/demo)"
}

test_second_start_uses_the_mount_of_the_first()
{
	need_demo
	demo start dir
	expect 0 "$rc" "$(cat out)"
	demo start "$WORK/dir/"
	expect 0 "$rc" "$(cat out)"
	expect 1 "$(n_mounts)"
	demo stop dir/
	expect 0 "$rc" "$(cat out)"
	expect_line "unmounted $WORK/dir" out
	expect '' "$(mount_type dir)"
}

test_simulator_of_somebody_else_is_not_written_nor_unmounted()
{
	need_demo
	simulator "$WORK/dir"
	demo start "$WORK/dir"
	expect 1 "$rc" "$(cat out)"
	expect_line "not the demo's" out
	demo stop "$WORK/dir"
	expect 1 "$rc" "$(cat out)"
	expect_line "not the demo's" out
	expect 1 "$(n_mounts)"
	expect precious "$(head -n 1 dir/die0/vram)"
}

test_mount_after_the_demos_at_the_same_place_is_not_its_own()
{
	need_demo
	demo start "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	umount "$WORK/dir"
	simulator "$WORK/dir"
	demo start "$WORK/dir"
	expect 1 "$rc" "$(cat out)"
	expect precious "$(head -n 1 dir/die0/vram)"
}

test_mount_without_a_simulator_stays()
{
	need_demo
	"$PYTHON" "$FAKEFUSE" live "$WORK/dir"
	demo start "$WORK/dir"
	expect 1 "$rc" "$(cat out)"
	demo stop "$WORK/dir"
	expect 1 "$rc" "$(cat out)"
	expect 1 "$(n_mounts)"
}

test_dead_mount_is_taken_away_by_start_and_by_stop()
{
	need_demo
	"$PYTHON" "$FAKEFUSE" dead "$WORK/dir"
	demo start "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line 'removing the dead k80fs mount' out
	expect 1 "$(n_mounts)"
	demo stop "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	"$PYTHON" "$FAKEFUSE" dead "$WORK/dir"
	demo stop "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
}

test_folder_with_a_space_is_one_folder()
{
	need_demo
	demo start "$WORK/a b"
	expect 0 "$rc" "$(cat out)"
	expect_line 'gave them back unchanged' out
	demo stop "$WORK/a b"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type "$WORK/a b")"
}

test_nothing_mounted_is_nothing_to_stop()
{
	mkdir dir
	run bash "$TOP/tests/demo.sh" stop dir
	expect 0 "$rc" "$(cat out)"
	expect "nothing is mounted at $WORK/dir" "$(cat out)"
}

test_other_words_are_usage()
{
	local args

	for args in '' start "foo $WORK/dir" "start $WORK/dir more"; do
		# shellcheck disable=SC2086 # words
		run bash "$TOP/tests/demo.sh" $args
		expect 1 "$rc" "$args"
		expect 'usage: demo.sh start|stop DIR' "$(cat out)" "$args"
	done
}
