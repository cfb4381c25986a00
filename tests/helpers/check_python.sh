# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# The Python module, as far as it needs no memory of a GPU.

py()
{
	run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$HELPERS/python" \
		python3 "$@"
}

test_every_bad_header_is_refused_and_every_good_one_taken()
{
	py "$TOP/tests/helpers/python_header.py" "$HELPERS/python/k80fs.py"
	expect 0 "$rc" "$(cat out)"
}

test_import_needs_neither_library()
{
	py -c 'import k80fs, sys; print(k80fs.__all__ and "torch" in sys.modules)'
	expect False "$(cat out)"
}

test_a_library_that_is_missing_is_an_error_with_its_name()
{
	export K80FS_LIBK80MEM=/no/such.so
	echo x >file
	py -c '
import k80fs
try:
    k80fs.map("file")
except k80fs.Error as error:
    print(error.errno, error)'
	expect 0 "$rc" "$(cat out)"
	expect_line '2 [Errno 2] /no/such.so: ' out
}

test_what_is_not_in_device_memory_is_not_saved()
{
	py -c '
import k80fs
for bad in b"x", [1], None:
    try:
        k80fs.save("file", {"a": bad})
    except TypeError as error:
        print(error)'
	expect 3 "$(grep -c "^'a' is not in device memory$" out)" "$(cat out)"
	[ ! -e file ] || die "a file was made"
}
