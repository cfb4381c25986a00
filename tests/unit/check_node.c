// SPDX-License-Identifier: GPL-2.0-or-later
/* The fixed tree. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/node.h"

static struct node_table table;
static struct node_die dies[NODE_MAX_DIES];
static bool has_compute;

/* Every third die has a carve-out. */
static void setup(void)
{
	memset(&table, 0x5a, sizeof(table));
	has_compute = false;
	for (unsigned int die = 0; die < NODE_MAX_DIES; die++) {
		snprintf(dies[die].bdf, sizeof(dies[die].bdf), "0000:%02x:00.0",
			 (die + 3) & 0xff);
		dies[die].has_vram = true;
		dies[die].has_resmem = die % 3 == 1;
		dies[die].has_mem = false;
	}
}

static void build(unsigned int n_dies)
{
	node_init(&table, n_dies, dies, has_compute);
}

static const struct node *root(void)
{
	const struct node *n = node_get(&table, NODE_ROOT_INO);

	ck_assert_ptr_nonnull(n);
	return n;
}

/* The node at a path of at most two names below the root, or NULL. */
static const struct node *at(const char *dir, const char *name)
{
	const struct node *n = dir ? node_find(&table, root(), dir) : root();

	return n && name ? node_find(&table, n, name) : n;
}

static size_t count(const struct node *dir)
{
	size_t pos = 0, n = 0;

	while (node_next(&table, dir, &pos))
		n++;
	return n;
}

static const unsigned int sizes[] = { 0, 1, 2, 6, 15, 16 };

START_TEST(root_holds_the_published_names)
{
	unsigned int n_dies = sizes[_i];
	char name[NODE_NAME_LEN];

	build(n_dies);
	ck_assert_uint_eq(table.n_dies, n_dies);
	ck_assert_int_eq(root()->kind, NODE_ROOT);
	ck_assert_uint_eq(root()->parent, NODE_ROOT_INO);
	ck_assert_int_eq(at(NULL, "status")->kind, NODE_ROOT_STATUS);
	ck_assert_int_eq(at(NULL, "ctl")->kind, NODE_ROOT_CTL);
	ck_assert_int_eq(at(NULL, "by-bdf")->kind, NODE_BY_BDF);
	ck_assert_int_eq(at(NULL, "metrics")->kind, NODE_METRICS);
	ck_assert_int_eq(at(NULL, "trace")->kind, NODE_TRACE);
	ck_assert_uint_eq(count(root()), 5 + n_dies);
	ck_assert_uint_eq(count(at("by-bdf", NULL)), n_dies);
	for (unsigned int die = 0; die < NODE_MAX_DIES; die++) {
		const struct node *n;

		snprintf(name, sizeof(name), "die%u", die);
		n = at(NULL, name);
		ck_assert_int_eq(n != NULL, die < n_dies);
		if (n) {
			ck_assert_int_eq(n->kind, NODE_DIE);
			ck_assert_int_eq(n->die, (int)die);
		}
	}
}
END_TEST

START_TEST(die_holds_its_files_and_resmem_only_with_a_carve_out)
{
	static const struct {
		const char *name;
		enum node_kind kind;
	} files[] = {
		{ "vram", NODE_VRAM },
		{ "ctl", NODE_CTL },
		{ "status", NODE_STATUS },
		{ "resmem", NODE_RESMEM },
	};
	const struct node *dir;
	char name[NODE_NAME_LEN];

	build(NODE_MAX_DIES);
	snprintf(name, sizeof(name), "die%d", _i);
	dir = at(NULL, name);
	ck_assert_uint_eq(count(dir), dies[_i].has_resmem ? 4 : 3);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct node *n = node_find(&table, dir, files[i].name);

		if (files[i].kind == NODE_RESMEM && !dies[_i].has_resmem) {
			ck_assert_ptr_null(n);
			continue;
		}
		ck_assert_ptr_nonnull(n);
		ck_assert_int_eq(n->kind, files[i].kind);
		ck_assert_int_eq(n->die, _i);
		ck_assert_uint_eq(n->parent, dir->ino);
	}
}
END_TEST

START_TEST(link_of_an_address_leads_to_its_die)
{
	const struct node *n;
	char target[NODE_NAME_LEN];

	build(NODE_MAX_DIES);
	n = at("by-bdf", dies[_i].bdf);
	ck_assert_ptr_nonnull(n);
	ck_assert_int_eq(n->kind, NODE_LINK);
	ck_assert_int_eq(n->die, _i);
	snprintf(target, sizeof(target), "../die%d", _i);
	ck_assert_str_eq(n->target, target);
}
END_TEST

START_TEST(link_of_the_longest_address_is_not_cut)
{
	/* a domain behind a VMD has five digits */
	strcpy(dies[0].bdf, "10000:ff:1f.7");
	build(1);
	ck_assert_ptr_nonnull(at("by-bdf", dies[0].bdf));
}
END_TEST

static const char *const absent[] = {
	"",       ".",     "..",    "die",     "die16",
	"die6 ",  "die00", "die-1", "DIE0",    "vram",
	"Status", "ctl/",  "by-bd", "by-bdf2", "0000:03:00.0",
};

START_TEST(find_of_a_name_that_is_not_there_gives_null)
{
	build(6);
	ck_assert_ptr_null(at(NULL, absent[_i]));
}
END_TEST

START_TEST(find_in_a_die_knows_no_names_of_the_root)
{
	build(6);
	ck_assert_ptr_null(at("die0", "die0"));
	ck_assert_ptr_null(at("die0", "by-bdf"));
	ck_assert_ptr_null(at("by-bdf", "die0"));
	ck_assert_ptr_null(at("by-bdf", dies[6].bdf));
	ck_assert_ptr_null(at("status", "ctl"));
}
END_TEST

/* The same in every mount, however many dies there are. */
START_TEST(inode_numbers_do_not_depend_on_the_machine)
{
	static const struct {
		const char *dir, *name;
		uint64_t ino;
	} fixed[] = {
		{ NULL, "status", 2 },
		{ NULL, "ctl", 3 },
		{ NULL, "by-bdf", 4 },
		{ NULL, "die0", 16 },
		{ NULL, "die1", 32 },
		{ "die1", "vram", 33 },
		{ "die1", "resmem", 34 },
		{ "die1", "ctl", 35 },
		{ "die1", "status", 36 },
		{ "die0", "status", 20 },
		{ "by-bdf", "0000:04:00.0", 37 },
	};

	build((unsigned int)_i);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		ck_assert_uint_eq(at(fixed[i].dir, fixed[i].name)->ino,
				  fixed[i].ino);
}
END_TEST

START_TEST(get_agrees_with_the_walk)
{
	uint64_t seen[NODE_TABLE_LEN] = { 0 };
	size_t n_seen = 1, n_nodes = 0;
	const struct node *stack[3] = { NULL };
	size_t pos[3] = { 0 };
	int depth = 0;

	build(sizes[_i]);
	stack[0] = root();
	seen[NODE_ROOT_INO] = 1;
	while (depth >= 0) {
		const struct node *n =
			node_next(&table, stack[depth], &pos[depth]);

		if (!n) {
			depth--;
			continue;
		}
		ck_assert_uint_lt(n->ino, NODE_TABLE_LEN);
		ck_assert_uint_eq(seen[n->ino]++, 0);
		ck_assert_ptr_eq(node_get(&table, n->ino), n);
		ck_assert_ptr_eq(node_find(&table, stack[depth], n->name), n);
		ck_assert_ptr_eq(node_get(&table, n->parent), stack[depth]);
		n_seen++;
		if (node_is_dir(n)) {
			ck_assert_int_lt(++depth, 3);
			stack[depth] = n;
			pos[depth] = 0;
		}
	}
	for (uint64_t ino = 0; ino < NODE_TABLE_LEN + 100; ino++)
		n_nodes += node_get(&table, ino) != NULL;
	ck_assert_uint_eq(n_nodes, n_seen);
}
END_TEST

START_TEST(get_of_a_number_that_is_not_there_gives_null)
{
	static const uint64_t numbers[] = {
		0,
		7,
		15,
		16 + 2,
		16 + 6,
		31,
		32,
		48,
		NODE_TABLE_LEN,
		NODE_TABLE_LEN + 1,
		UINT32_MAX,
		1ULL << 32 | 1,
		UINT64_MAX,
	};

	build(1);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		ck_assert_msg(!node_get(&table, numbers[i]), "%llu",
			      (unsigned long long)numbers[i]);
}
END_TEST

/* readdir of two clients, or one that goes on later. */
START_TEST(walk_goes_on_from_where_it_was)
{
	size_t pos = 0, other = 0, at_third;
	const struct node *third;

	build(6);
	node_next(&table, root(), &pos);
	node_next(&table, root(), &pos);
	at_third = pos;
	third = node_next(&table, root(), &pos);
	ck_assert_ptr_nonnull(node_next(&table, root(), &other));
	ck_assert_ptr_eq(node_next(&table, root(), &at_third), third);
	while (node_next(&table, root(), &pos))
		;
	ck_assert_ptr_null(node_next(&table, root(), &pos));
}
END_TEST

START_TEST(compute_folder_is_there_when_it_is_asked_for)
{
	static const struct {
		const char *name;
		enum node_kind kind;
		uint64_t ino;
	} files[] = {
		{ "ctl", NODE_COMPUTE_CTL, 39 },
		{ "status", NODE_COMPUTE_STATUS, 40 },
		{ "in", NODE_COMPUTE_IN, 41 },
		{ "out", NODE_COMPUTE_OUT, 42 },
		{ "module", NODE_COMPUTE_MODULE, 43 },
		{ "log", NODE_COMPUTE_LOG, 44 },
	};
	const struct node *dir;

	build(2);
	ck_assert_ptr_null(at("die1", "compute"));
	has_compute = true;
	build(2);
	dir = at("die1", "compute");
	ck_assert_ptr_nonnull(dir);
	ck_assert_int_eq(dir->kind, NODE_COMPUTE);
	ck_assert_uint_eq(dir->ino, 38);
	ck_assert(node_is_dir(dir));
	ck_assert(!node_is_compute(dir));
	ck_assert_uint_eq(count(dir), ARRAY_SIZE(files));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct node *n = node_find(&table, dir, files[i].name);

		ck_assert_ptr_nonnull(n);
		ck_assert_int_eq(n->kind, files[i].kind);
		ck_assert_uint_eq(n->ino, files[i].ino);
		ck_assert_int_eq(n->die, 1);
		ck_assert(node_is_compute(n));
		ck_assert(!node_is_dir(n));
	}
	ck_assert(!node_is_compute(at("die1", "ctl")));
}
END_TEST

START_TEST(mem_folder_is_there_for_a_die_that_can_have_it)
{
	const struct node *dir;

	dies[1].has_mem = true;
	dies[1].has_vram = false;
	has_compute = true;
	build(3);
	ck_assert_ptr_null(at("die0", "mem"));
	ck_assert_ptr_null(at("die2", "mem"));
	dir = at("die1", "mem");
	ck_assert_ptr_nonnull(dir);
	ck_assert_int_eq(dir->kind, NODE_MEM);
	ck_assert_uint_eq(dir->ino, 45);
	ck_assert_uint_eq(dir->ino, node_mem_ino(1));
	ck_assert(node_is_dir(dir));
	ck_assert(!node_is_compute(dir));
	ck_assert_uint_eq(count(dir), 0);
	/* memory that is all for files has no other name */
	ck_assert_ptr_null(at("die1", "vram"));
	ck_assert_ptr_nonnull(at("die0", "vram"));
}
END_TEST

START_TEST(only_three_kinds_are_folders)
{
	build(2);
	ck_assert(node_is_dir(root()));
	ck_assert(node_is_dir(at("by-bdf", NULL)));
	ck_assert(node_is_dir(at("die0", NULL)));
	ck_assert(!node_is_dir(at("status", NULL)));
	ck_assert(!node_is_dir(at("ctl", NULL)));
	ck_assert(!node_is_dir(at("by-bdf", dies[1].bdf)));
	ck_assert(!node_is_dir(at("die1", "vram")));
	ck_assert(!node_is_dir(at("die1", "resmem")));
	ck_assert(!node_is_dir(at("die1", "ctl")));
	ck_assert(!node_is_dir(at("die1", "status")));
	ck_assert_uint_eq(count(at("die1", "vram")), 0);
}
END_TEST

START_TEST(init_again_forgets_the_old_tree)
{
	build(NODE_MAX_DIES);
	build(1);
	ck_assert_ptr_null(at(NULL, "die1"));
	ck_assert_uint_eq(count(root()), 6);
	ck_assert_uint_eq(count(at("by-bdf", NULL)), 1);
}
END_TEST

Suite *node_suite(void)
{
	Suite *suite = suite_create("node");
	TCase *shape = tcase_create("shape");
	TCase *walk = tcase_create("walk");

	tcase_add_checked_fixture(shape, setup, NULL);
	tcase_add_loop_test(shape, root_holds_the_published_names, 0,
			    ARRAY_SIZE(sizes));
	tcase_add_loop_test(shape,
			    die_holds_its_files_and_resmem_only_with_a_carve_out,
			    0, NODE_MAX_DIES);
	tcase_add_loop_test(shape, link_of_an_address_leads_to_its_die, 0,
			    NODE_MAX_DIES);
	tcase_add_test(shape, link_of_the_longest_address_is_not_cut);
	tcase_add_loop_test(shape, inode_numbers_do_not_depend_on_the_machine,
			    2, NODE_MAX_DIES + 1);
	tcase_add_test(shape, compute_folder_is_there_when_it_is_asked_for);
	tcase_add_test(shape, mem_folder_is_there_for_a_die_that_can_have_it);
	tcase_add_test(shape, only_three_kinds_are_folders);
	tcase_add_test(shape, init_again_forgets_the_old_tree);
	suite_add_tcase(suite, shape);

	tcase_add_checked_fixture(walk, setup, NULL);
	tcase_add_loop_test(walk, find_of_a_name_that_is_not_there_gives_null,
			    0, ARRAY_SIZE(absent));
	tcase_add_test(walk, find_in_a_die_knows_no_names_of_the_root);
	tcase_add_loop_test(walk, get_agrees_with_the_walk, 0, ARRAY_SIZE(sizes));
	tcase_add_test(walk, get_of_a_number_that_is_not_there_gives_null);
	tcase_add_test(walk, walk_goes_on_from_where_it_was);
	suite_add_tcase(suite, walk);
	return suite;
}
