/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/check.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/order.h"
#include "subnet/routing/route.h"
#include "subnet/routing/vls.h"
#include "subnet/tables/tables.h"
#include "topo/read.h"

#define FIXTURES HD_SOURCE_DIR "/tests/fixtures/subnet/"

static void load(const char *folder, const char *name, struct strbuf *out)
{
	struct diag d = { .status = HD_OK };
	char path[512];

	snprintf(path, sizeof(path), FIXTURES "%s/%s", folder, name);
	if (file_read(path, FILE_LIMIT, &d, out) != HD_OK)
		fail_msg("%s: %s", path, d.message);
}

/* Reads the fabric from ibnetdiscover's output, with shuffled nodes. */
static void load_fabric(const char *folder, struct topo *t, uint64_t seed)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	load(folder, "ibnetdiscover.txt", &text);
	if (topo_read(text.text, text.len, NULL, &d, t) != HD_OK)
		fail_msg("%s", d.message);
	if (seed)
		shuffle(t, seed);
	strbuf_fini(&text);
}

static void keep_lids(struct subnet *s)
{
	static const struct lid_options keep = { .order = LIDS_KEEP, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	if (subnet_assign_lids(s, &keep, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static void read_tables(struct subnet *s, const char *folder, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct tables_found found;

	load(folder, name, &text);
	if (tables_read(s, text.text, text.len, &d, &found) != HD_OK)
		fail_msg("%s/%s:%u: %s", folder, name, d.line, d.message);
	assert_int_equal(found.n_unicast + found.n_multicast > 0, 1);
	strbuf_fini(&text);
}

static void assert_written(const struct subnet *s, const char *format, const char *folder,
			   const char *name)
{
	struct strbuf text = STRBUF_INIT, expected = STRBUF_INIT;

	load(folder, name, &expected);
	tables_writer_find(format)->write(s, &text);
	assert_string_equal(text.text, expected.text);
	strbuf_fini(&text);
	strbuf_fini(&expected);
}

static const struct {
	const char *folder, *name, *format;
} files[] = {
	{ "small", "dump_fts.txt", "fts" },    { "small", "dump_lfts.txt", "lfts" },
	{ "small", "dump_fts-M.txt", "mfts" }, { "small", "opensm-lfts.dump", "opensm" },
	{ "small", "opensm.fdbs", "fdbs" },    { "torus", "dump_fts.txt", "fts" },
	{ "torus", "dump_fts-M.txt", "mfts" }, { "torus", "opensm-lfts.dump", "opensm" },
	{ "torus", "opensm.fdbs", "fdbs" },    { "torus", "opensm.mcfdbs", "mcfdbs" },
	{ "lmc", "dump_fts.txt", "fts" },      { "lmc", "opensm-lfts.dump", "opensm" },
	{ "lmc", "opensm.fdbs", "fdbs" },      { "irregular", "opensm-lfts.dump", "opensm" },
};

static void writes_a_file_as_it_was_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct topo t;
		struct subnet s;

		load_fabric(files[i].folder, &t, i);
		subnet_init(&s, &t);
		keep_lids(&s);
		read_tables(&s, files[i].folder, files[i].name);
		assert_written(&s, files[i].format, files[i].folder, files[i].name);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

static port_id managers_port(const struct topo *t)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p) && order_port_guid(t, p) == t->source.from_port)
			return p;
	}
	return TOPO_NONE;
}

static void our_lids_and_minhop_are_opensms(void **state)
{
	static const struct {
		const char *folder;
		unsigned lmc;
	} fabrics[] = { { "small", 0 }, { "torus", 0 }, { "lmc", 1 }, { "irregular", 0 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct topo t;
		struct subnet s;
		struct diag d = { .status = HD_OK };

		load_fabric(fabrics[i].folder, &t, 7 + i);
		subnet_init(&s, &t);
		/* The manager ran on the host that ran ibnetdiscover. */
		struct lid_options o = { .lmc = fabrics[i].lmc, .sm_port = managers_port(&t) };

		assert_int_equal(subnet_assign_lids(&s, &o, &d), HD_OK);
		for (port_id p = 0; p < t.n_ports; p++) {
			if (s.lid_of_port[p])
				assert_int_equal(s.lid_of_port[p], t.ports[p].lid);
		}
		assert_int_equal(subnet_route(&s, "minhop", NULL, &d), HD_OK);
		assert_written(&s, "opensm", fabrics[i].folder, "opensm-lfts.dump");
		subnet_fini(&s);
		topo_fini(&t);
	}
}

static void our_shared_trees_are_opensms(void **state)
{
	struct topo t;
	struct subnet theirs, ours;
	struct diag d = { .status = HD_OK };
	struct mcast_check c;

	(void)state;
	load_fabric("torus", &t, 3);
	subnet_init(&theirs, &t);
	keep_lids(&theirs);
	read_tables(&theirs, "torus", "opensm.mcfdbs");
	assert_int_equal(theirs.n_groups, 4);
	mcast_check(&theirs, &c);
	assert_true(mcast_check_is_clean(&c));
	subnet_init(&ours, &t);
	keep_lids(&ours);
	for (uint32_t i = 0; i < theirs.n_groups; i++) {
		struct mcast_group m = theirs.groups[i];

		m.method = MCAST_SHARED;
		mcast_make_room(&ours, 0, (uint32_t)(m.mlid - LID_FIRST_MCAST));
		assert_int_equal(mcast_add(&ours, &m, &d), HD_OK);
	}
	assert_written(&ours, "mcfdbs", "torus", "opensm.mcfdbs");
	subnet_fini(&ours);
	subnet_fini(&theirs);
	topo_fini(&t);
}

static void the_engine_file_takes_a_fabrics_own_routes(void **state)
{
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	struct route_check c;
	struct route_options o = { .n_roots = 0 };

	(void)state;
	if (file_open(FIXTURES "torus/opensm.fdbs", &d, &o.tables) != HD_OK)
		fail_msg("%s", d.message);
	load_fabric("torus", &t, 1);
	subnet_init(&s, &t);
	keep_lids(&s);
	assert_int_equal(subnet_route(&s, "file", &o, &d), HD_OK);
	assert_string_equal(s.engine, "file");
	route_check(&s, &c);
	assert_true(route_check_is_clean(&c));
	assert_int_equal(c.n_not_minimal, 0);
	file_close(o.tables);
	o.tables = NULL;
	assert_int_equal(subnet_route(&s, "file", &o, &d), HD_ERR_INPUT);
	subnet_fini(&s);
	topo_fini(&t);
}

static void vls_are_read_and_written_as_they_were(void **state)
{
	struct topo t;
	struct subnet s;
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)state;
	load("small", "opensm-sl2vl.dump", &text);
	load_fabric("small", &t, 4);
	subnet_init(&s, &t);
	keep_lids(&s);
	if (sl2vl_read(&s, text.text, text.len, &d) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	assert_written(&s, "sl2vl", "small", "opensm-sl2vl.dump");
	assert_int_equal(sl2vl_at(&s, 0, 1, 3)->vl[3], 3);
	assert_int_equal(sl2vl_at(&s, 0, 1, 3)->vl[4], 0);
	assert_int_equal(sl2vl_at(&s, 0, 1, 3)->vl[15], 15);
	strbuf_fini(&text);
	subnet_fini(&s);
	topo_fini(&t);
}

static void malformed_vls_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *message;
	} cases[] = {
		{ "", 0, "no SL2VL table" },
		{ "# nothing\n", 0, "no SL2VL table" },
		{ "0 1 : 0\n", 1, "expected a table" },
		{ "Switch x\n", 1, "expected a GUID" },
		{ "Switch 0x77, base LID 2\n", 1, "no port of the fabric" },
		{ "Switch 0x200000, base LID 2\n0 1\n", 2, "'in out :'" },
		{ "Switch 0x200000, base LID 2\n0 9 : 0\n", 2, "'leaf1' has 8 ports" },
		{ "Switch 0x200000, base LID 2\n0 1 : 0 1\n", 2, "the VL of SL 2" },
		{ "Switch 0x200000, base LID 2\n0 1 : 16\n", 2, "the VL of SL 0" },
		{ "Switch 0x200000, base LID 2\n"
		  "0 1 : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0\n",
		  2, "more than 16" },
	};
	struct topo t;
	struct subnet s;

	(void)state;
	load_fabric("small", &t, 0);
	subnet_init(&s, &t);
	keep_lids(&s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { .status = HD_OK };

		if (sl2vl_read(&s, cases[i].text, strlen(cases[i].text), &d) != HD_ERR_INPUT ||
		    d.line != cases[i].line || !strstr(d.message, cases[i].message))
			fail_msg("case %zu: line %u: %s", i, d.line, d.message);
	}
	subnet_fini(&s);
	topo_fini(&t);
}

/* Errors of a file and their positions. The fabric is `small`. */
#define LIST_HEAD                                                            \
	"Unicast lids [0x0-0x6] of switch DR path slid 0; dlid 0; 0,1 guid " \
	"0x0000000000200000 (leaf1):\n"
static const struct {
	const char *text;
	unsigned line;
	const char *message;
} malformed[] = {
	{ "", 0, "no forwarding table" },
	{ "\n\n", 2, "no forwarding table" },
	{ "hello\n", 1, "expected a forwarding table" },
	{ LIST_HEAD "0x0001 001 : (x)\n", 2, "cut short" },
	{ LIST_HEAD "0x0001 001 : (x)\n" LIST_HEAD, 3, "cut short" },
	{ LIST_HEAD "0x0001 001 : (x)\n2 valid lids dumped \n", 3, "2 entries are said" },
	{ LIST_HEAD "0x0001 300 : (x)\n", 2, "port 300, but 'leaf1' has 8" },
	{ LIST_HEAD "0x0001 2147483648 : (x)\n", 2, "port 2147483648" },
	{ LIST_HEAD "0x0001 99999999999999999999 : (x)\n", 2, "expected a port" },
	{ LIST_HEAD "0xc000 001 : (x)\n", 2, "not a unicast LID" },
	{ LIST_HEAD "0xbfff 001 : (x)\n", 2, "above all LIDs" },
	{ LIST_HEAD "0x0001 001\n0x0001 002\n", 3, "second entry" },
	{ LIST_HEAD "0x0001 001 : (Switch portguid 0x77: 'x')\n", 2, "is said to be that of port" },
	{ LIST_HEAD "0x0010 001 : (Switch portguid 0x77: 'x')\n", 2, "belongs to no port" },
	{ LIST_HEAD "0x0001 one\n", 2, "expected a port" },
	{ LIST_HEAD "zzz\n", 2, "expected an entry or the count" },
	{ LIST_HEAD "0 valid lids dumped \n" LIST_HEAD, 3, "second table" },
	{ LIST_HEAD "0 valid lids dumped \n", 0, "no table for the switch" },
	{ "Unicast lids of switch\n", 1, "expected '['" },
	{ "Unicast lids [0-x] of switch\n", 1, "range of LIDs" },
	{ "Unicast lids [0x0-0x6] of switch DR path\n", 1, "GUID of a switch" },
	{ "Unicast lids [0-6] of switch Lid 2 guid 0x99 ('x'):\n", 1,
	  "no switch of the fabric has the GUID 0x0000000000000099" },
	{ "dump_ucast_routes: Switch 0x200000\n0x0001 : 9 : 01 : yes\n", 2, "port 9, but" },
	{ "dump_ucast_routes: Switch 0x200000\n0x0001 x\n", 2, "expected a LID and a port" },
	{ "dump_ucast_routes: Switch 0x200000\n0x0001 : NEVER\n", 2, "port or UNREACHABLE" },
	{ "dump_ucast_routes: Switch\n", 1, "expected" },
	{ "Switch 0x200000\n0xC000 : 0x009\n", 2, "port 9, but" },
	{ "Switch 0x200000\n0xBFFF : 0x001\n", 2, "expected an MLID" },
	{ "Switch 0x200000\n0xFFFF : 0x001\n", 2, "expected an MLID" },
	{ "Switch 0x200000\n0xC000 : 0x001 what\n", 2, "expected a port" },
	{ "Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0,1 guid 0x200000 (leaf1):\n0xc000      x x x x x x x x x x \n",
	  2, "port 9, but" },
	{ "Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0,1 guid 0x200000 (leaf1):\n0xc000       x\n",
	  2, "under a port" },
	{ "Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0,1 guid 0x200000 (leaf1):\n0xc000      x \n",
	  2, "cut short" },
};

static void malformed_files_are_refused_with_their_line(void **state)
{
	struct topo t;

	(void)state;
	load_fabric("small", &t, 0);
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct tables_found found;
		struct subnet s;

		subnet_init(&s, &t);
		keep_lids(&s);
		if (tables_read(&s, malformed[i].text, strlen(malformed[i].text), &d, &found) !=
			    HD_ERR_INPUT ||
		    d.line != malformed[i].line || !strstr(d.message, malformed[i].message))
			fail_msg("case %zu: line %u: %s", i, d.line, d.message);
		subnet_fini(&s);
	}
	topo_fini(&t);
}

/* A file cut at any position is rejected, or complete up to the end of a line. */
static void every_cut_of_a_list_is_noticed(void **state)
{
	struct topo t;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	load_fabric("small", &t, 0);
	load("small", "dump_fts.txt", &text);
	/* " dumped \n" may lose its end unnoticed */
	for (size_t len = 0; len < text.len - 9; len++) {
		char *copy = calloc(1, len + 1);
		struct diag d = { .status = HD_OK };
		struct tables_found found;
		struct subnet s;

		memcpy(copy, text.text, len);
		subnet_init(&s, &t);
		keep_lids(&s);
		assert_int_equal(tables_read(&s, copy, len, &d, &found), HD_ERR_INPUT);
		subnet_fini(&s);
		free(copy);
	}
	strbuf_fini(&text);
	topo_fini(&t);
}

static void masks_of_ports_read_like_crosses(void **state)
{
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	struct tables_found found;
	static const char head[] =
		"Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0 guid 0x200000 (switch0):\n";
	char text[512];

	(void)state;
	topo_init(&t);
	node_id sw = add_switch(&t, 36);

	for (unsigned n = 1; n <= 36; n++)
		add_host(&t, sw, n);
	subnet_init(&s, &t);
	struct lid_options o = { .sm_port = TOPO_NONE };

	assert_int_equal(subnet_assign_lids(&s, &o, &d), HD_OK);
	/* dump_fts -M -n: 16 ports per four digits, the first ones first */
	snprintf(text, sizeof(text), "%s0xc002      000280000010\n1 valid mlids dumped \n", head);
	if (tables_read(&s, text, strlen(text), &d, &found) != HD_OK)
		fail_msg("%s", d.message);
	assert_int_equal(*mft_get(&s.mft[0], 0, 1, 0xC002),
			 UINT64_C(1) << 1 | UINT64_C(1) << 31 | UINT64_C(1) << 36);
	assert_int_equal(s.n_groups, 1);
	assert_int_equal(s.groups[0].mlid, 0xC002);
	assert_int_equal(s.groups[0].n_members, 3);
	/* And the ruler has its row of tens. */
	struct strbuf out = STRBUF_INIT;

	tables_writer_find("mfts")->write(&s, &out);
	assert_non_null(strstr(
		out.text,
		"\n            0                   1                   2                   3             \n     Ports: 0 1 2"));
	strbuf_fini(&out);
	subnet_fini(&s);
	topo_fini(&t);
}

static void tables_of_random_fabrics_survive_every_format(void **state)
{
	static const char *const formats[] = { "fts", "lfts", "opensm", "fdbs" };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct topo t;
		struct subnet a, b;
		struct diag d = { .status = HD_OK };
		struct strbuf text = STRBUF_INIT;
		struct lid_options o = { .lmc = i % 3, .sm_port = TOPO_NONE };
		struct tables_found found;

		build_random(&t, i, 3 + i, 2 * i);
		subnet_init(&a, &t);
		subnet_init(&b, &t);
		assert_int_equal(subnet_assign_lids(&a, &o, &d), HD_OK);
		assert_int_equal(subnet_assign_lids(&b, &o, &d), HD_OK);
		assert_int_equal(subnet_route(&a, i % 2 ? "updn" : "dfsssp", NULL, &d), HD_OK);
		tables_writer_find(formats[i % 4])->write(&a, &text);
		if (tables_read(&b, text.text, text.len, &d, &found) != HD_OK)
			fail_msg("%u: %s", d.line, d.message);
		assert_memory_equal(a.lft, b.lft, (size_t)a.n_switches * a.lft_stride);
		strbuf_fini(&text);
		subnet_fini(&a);
		subnet_fini(&b);
		topo_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_a_file_as_it_was_read),
		cmocka_unit_test(our_lids_and_minhop_are_opensms),
		cmocka_unit_test(our_shared_trees_are_opensms),
		cmocka_unit_test(the_engine_file_takes_a_fabrics_own_routes),
		cmocka_unit_test(vls_are_read_and_written_as_they_were),
		cmocka_unit_test(malformed_vls_are_refused_with_their_line),
		cmocka_unit_test(malformed_files_are_refused_with_their_line),
		cmocka_unit_test(every_cut_of_a_list_is_noticed),
		cmocka_unit_test(masks_of_ports_read_like_crosses),
		cmocka_unit_test(tables_of_random_fabrics_survive_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
