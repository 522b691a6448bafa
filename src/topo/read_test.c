/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of real tools, and rejected files with the line of the error. */
#include "topo/text_for_tests.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

static void check_same_links(const char *a, const char *b)
{
	struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;

	links_of(a, &x);
	links_of(b, &y);
	assert_true(x.len > 0);
	assert_string_equal(x.text, y.text);
	strbuf_fini(&x);
	strbuf_fini(&y);
}

/* Five reports of one fabric by three tools: all must give the same graph. */
static void all_formats_give_the_same_graph(void **state)
{
	static const char *const small[] = { FIXTURE("small.ports"), FIXTURE("small.linkinfo"),
					     FIXTURE("small.linkinfo-nodes"),
					     FIXTURE("small.subnet.lst") };
	static const char *const chassis[] = {
		FIXTURE("chassis.ibnetdiscover-f"),  FIXTURE("chassis.ibnetdiscover-g"),
		FIXTURE("chassis.ibnetdiscover-fg"), FIXTURE("chassis.ports"),
		FIXTURE("chassis.linkinfo"),         FIXTURE("chassis.linkinfo-nodes"),
		FIXTURE("chassis.subnet.lst"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		check_same_links(FIXTURE("small.ibnetdiscover"), small[i]);
	for (size_t i = 0; i < sizeof(chassis) / sizeof(*chassis); i++)
		check_same_links(FIXTURE("chassis.ibnetdiscover"), chassis[i]);
}

/* OpenSM's file has no speeds, no names and no kinds, but the same cables. */
static void neighbors_are_the_same_cables(void **state)
{
	static const char *const pairs[][2] = {
		{ FIXTURE("small.neighbors"), FIXTURE("small.ibnetdiscover") },
		{ FIXTURE("chassis.neighbors"), FIXTURE("chassis.ibnetdiscover") },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct topo t, real;

		read_path(pairs[i][0], &t);
		read_path(pairs[i][1], &real);
		for (port_id p = 0; p < real.n_ports; p++) {
			real.ports[p].widths = 0;
			real.ports[p].speeds = 0;
		}
		struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;

		write_as(&t, "links", &x);
		write_as(&real, "links", &y);
		assert_string_equal(x.text, y.text);
		strbuf_fini(&x);
		strbuf_fini(&y);
		topo_fini(&t);
		topo_fini(&real);
	}
}

static node_id with_guid(const struct topo *t, uint64_t guid)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (t->nodes[v].guid == guid)
			return v;
	}
	fail_msg("no node 0x%" PRIx64, guid);
	return TOPO_NONE;
}

static void reads_a_real_file(void **state)
{
	struct topo t;

	(void)state;
	read_path(FIXTURE("small.ibnetdiscover"), &t);
	assert_int_equal(t.n_nodes, 6);
	node_id sw = with_guid(&t, 0x200001);
	const struct topo_node *leaf = &t.nodes[sw];
	const struct topo_node *host = &t.nodes[with_guid(&t, 0x100006)];

	assert_string_equal(leaf->name, "leaf2");
	assert_int_equal(leaf->kind, NODE_SWITCH);
	assert_int_equal(leaf->n_ports, 8);
	assert_true(leaf->enhanced_port0);
	assert_int_equal(leaf->line, 10);
	assert_int_equal(t.ports[leaf->first_port].lid, 3);
	assert_int_equal(t.ports[leaf->first_port + 3].line, 13);
	assert_int_equal(t.ports[leaf->first_port + 3].widths, WIDTH_4X);
	assert_int_equal(t.ports[leaf->first_port + 3].speeds, 1 << SPEED_HDR);
	assert_int_equal(t.ports[leaf->first_port + 5].peer, TOPO_NONE);
	assert_string_equal(host->name, "host4 HCA-1");
	assert_int_equal(host->kind, NODE_CA);
	assert_int_equal(t.ports[host->first_port + 1].guid, 0x100007);
	assert_int_equal(t.ports[host->first_port + 1].lid, 6);
	assert_int_equal(t.ports[host->first_port + 1].peer, topo_port_of(&t, sw, 2));
	assert_int_equal(t.source.from_node, 0x100000);
	assert_int_equal(t.source.from_port, 0x100001);
	assert_string_equal(t.source.date, "Sun Nov 15 01:13:48 2026");
	topo_fini(&t);
	read_path(FIXTURE("chassis.ibnetdiscover-fg"), &t);
	sw = with_guid(&t, 0x2c9000000502);
	assert_int_equal(t.ports[topo_port_of(&t, sw, 1)].vls, 8);
	assert_int_equal(t.n_chassis, 1);
	assert_int_equal(t.chassis[0].guid, 0x2c9000000500);
	assert_int_equal(t.nodes[sw].place->slot, SLOT_LINE);
	assert_int_equal(t.as_read[topo_port_of(&t, sw, 3)].external, 3);
	topo_fini(&t);
}

/* ibsim's interpretation of two nets, as printed by ibnetdiscover. */
static void ibsim_nets_are_read_as_ibsim_reads_them(void **state)
{
	struct topo net, seen;

	(void)state;
	check_same_links(FIXTURE("chassis.net"), FIXTURE("chassis.ibnetdiscover"));
	read_path(FIXTURE("quotes.net"), &net);
	read_path(FIXTURE("quotes.ibnetdiscover-f"), &seen);
	assert_string_equal(net.nodes[0].name, seen.nodes[0].name);
	assert_string_equal(net.nodes[0].name, "we\"ird na'me");
	assert_string_equal(net.nodes[1].name, "plain name");
	assert_string_equal(net.nodes[2].name, "h2");
	topo_fini(&net);
	topo_fini(&seen);
}

static void ibsim_counts_guids_and_defaults(void **state)
{
	struct topo t;
	struct topo_link_state link;

	(void)state;
	/* The net.2sw2path4hca2port of ibsim's examples, with its ways. */
	read_text("Switch\t8 \"Switch1\"\n"
		  "[1]\t\"Hca1\"[1]\n"
		  "[2]\t\"Hca1\"[2]\n"
		  "[3]\t\"Switch2\"[3]\n"
		  "\n"
		  "Switch 8 \"Switch2\"\n"
		  "[1]\t\"Hca2\"\n"
		  "[3]\t\"Switch1\"[3]\n"
		  "\n"
		  "Hca\t2 \"Hca1\"\n"
		  "[1]\t\"Switch1\"[1]\n"
		  "[2]\t\"Switch1\"[2]\n"
		  "\n"
		  "Hca \t2 \"Hca2\"\n"
		  "[1]\t\"Switch2\"[1]\n",
		  &t);
	assert_int_equal(t.nodes[0].guid, 0x100000);
	assert_int_equal(t.nodes[1].guid, 0x100003);
	assert_int_equal(t.nodes[2].guid, 0x200000);
	assert_int_equal(t.nodes[3].guid, 0x200001);
	assert_int_equal(t.ports[topo_port_of(&t, 1, 1)].guid, 0x100004);
	assert_string_equal(t.nodes[1].name, "Hca2");
	assert_string_equal(t.nodes[2].name, "Switch1");
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, 2, 3), &link), HD_OK);
	assert_int_equal(link.lanes, 4);
	assert_int_equal(link.speed, SPEED_SDR);
	topo_fini(&t);
}

/* A port GUID in brackets is that of the next switch only. */
static void ibsim_counts_on_from_a_guid(void **state)
{
	struct topo t;

	(void)state;
	read_text("switchguid=0x300(3ff)\nSwitch 2 \"a\"\n\n"
		  "Switch 2 \"b\"\n\ncaguid=0x400\nCa 2 \"c\"\n\n"
		  "Ca 1 \"d\"\n",
		  &t);
	assert_int_equal(t.nodes[0].guid, 0x300);
	assert_int_equal(t.ports[topo_port_of(&t, 0, 0)].guid, 0x3ff);
	assert_int_equal(t.nodes[1].guid, 0x301);
	assert_int_equal(t.ports[topo_port_of(&t, 1, 0)].guid, 0x301);
	assert_int_equal(t.nodes[2].guid, 0x400);
	assert_int_equal(t.nodes[3].guid, 0x403);
	assert_int_equal(t.ports[topo_port_of(&t, 3, 1)].guid, 0x404);
	topo_fini(&t);
}

static void ibsim_modules_aliases_and_settings_are_understood(void **state)
{
	struct topo t;
	struct topo_link_state link;

	(void)state;
	read_text("width=3\nspeed=7\nextspeed=3\npdebug=0\n"
		  "switchguid=0x300\n"
		  "module \"rack1\"\n"
		  "Switch 4 \"sw\"\n"
		  "@[1] \"up\"\n"
		  "[2] \"h\"[1] w=1 s=1 e=0 v=0\n"
		  "\n"
		  "Ca 1 \"h\"\n"
		  "[1] \"sw\" [2]\n"
		  "\n"
		  "module \"rack2\"\n"
		  "switchguid+16\n"
		  "Switch 4 \"sw\" # a free remark\n"
		  "# and a line of it\n"
		  "[4] \"rack1@up\"\n",
		  &t);
	assert_int_equal(t.n_nodes, 3);
	node_id one = with_guid(&t, 0x300), two = with_guid(&t, 0x310);

	assert_string_equal(t.nodes[two].name, "a free remark");
	assert_int_equal(t.ports[topo_port_of(&t, one, 1)].peer, topo_port_of(&t, two, 4));
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, two, 4), &link), HD_OK);
	assert_int_equal(link.lanes, 4);
	assert_int_equal(link.speed, SPEED_EDR);
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, one, 2), &link), HD_OK);
	assert_int_equal(link.lanes, 1);
	assert_int_equal(link.speed, SPEED_SDR);
	/* Code 0 has no information: as many VLs as without it. */
	assert_int_equal(link.vls, t.ports[topo_port_of(&t, two, 1)].vls);
	topo_fini(&t);
}

/* Whatever the order of its nodes was, a fabric is the same once sorted. */
static void nodes_stand_by_guid(void **state)
{
	struct rng rng;
	struct topo t, other;

	(void)state;
	rng_init(&rng, 1, 0);
	read_path(FIXTURE("chassis.ibnetdiscover-fg"), &t);
	read_path(FIXTURE("chassis.ibnetdiscover-fg"), &other);
	node_id *place = hd_alloc(t.n_nodes, sizeof(*place));

	for (unsigned round = 0; round < 20; round++) {
		for (node_id v = 0; v < t.n_nodes; v++) {
			node_id k = (node_id)rng_below(&rng, v + 1);

			place[v] = place[k];
			place[k] = v;
		}
		topo_reorder(&other, place);
		topo_sort(&other);
		for (node_id v = 0; v < t.n_nodes; v++) {
			assert_true(v == 0 || t.nodes[v - 1].guid < t.nodes[v].guid);
			assert_string_equal(t.nodes[v].name, other.nodes[v].name);
			assert_int_equal(t.nodes[v].first_port, other.nodes[v].first_port);
		}
		assert_memory_equal(t.ports, other.ports, t.n_ports * sizeof(*t.ports));
		assert_memory_equal(t.as_read, other.as_read, t.n_ports * sizeof(*t.as_read));
	}
	free(place);
	topo_fini(&t);
	topo_fini(&other);
}

static void recognises_formats_by_content(void **state)
{
	static const struct {
		const char *text;
		enum topo_format format;
	} cases[] = {
		{ "", FORMAT_UNKNOWN },
		{ "\n\n# hm\n", FORMAT_UNKNOWN },
		{ "Switch: guid 0x0000000000200000\n", FORMAT_UNKNOWN },
		{ "CA 'ibsim0'\n", FORMAT_UNKNOWN },
		{ "hello\nSwitch 1 \"x\"\n", FORMAT_UNKNOWN },
		{ "#\n# Topology file: generated on x\n", FORMAT_IBNETDISCOVER },
		{ "# net\n\nSwitch 8 \"x\"\n", FORMAT_IBSIM },
		{ "vendid=0x0\n", FORMAT_IBSIM },
		{ "{ CA-SM Ports:01", FORMAT_SUBNET_LST },
		{ "SW     3  8 0x0", FORMAT_PORTS },
		{ "0x0000000000100007 \"", FORMAT_LINKINFO },
		{ "0x0000000000100007:1 0x", FORMAT_NEIGHBORS },
		{ "CA: host4 HCA-1:\n", FORMAT_LINKINFO_NODES },
		{ "Switch: 0x0000000000200001 x:", FORMAT_LINKINFO_NODES },
		{ "Ca\t : 0x0000000000100006 ports 1", FORMAT_NODE_LIST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(topo_format_detect(cases[i].text, strlen(cases[i].text)),
				 cases[i].format);
}

static void refuse(const char *text, unsigned line, const char *reason)
{
	struct diag d = { .status = HD_OK };
	struct topo t;

	if (topo_read(text, strlen(text), NULL, &d, &t) == HD_OK)
		fail_msg("accepted: %s", text);
	if (d.line != line || !strstr(d.message, reason))
		fail_msg("line %u: %s; expected line %u: %s", d.line, d.message, line, reason);
	assert_null(strchr(d.message, '\n'));
}

#define HEAD                                               \
	"#\n# Topology file: generated on Sun Nov 15\n#\n" \
	"# Initiated from node 10 port 11\n\n"
#define SWITCH                                                            \
	"switchguid=0x20(20)\n"                                           \
	"Switch\t36 \"S-0000000000000020\"\t\t# \"s\" base port 0 lid 1 " \
	"lmc 0\n"
#define HOST              \
	"\ncaguid=0x10\n" \
	"Ca\t1 \"H-0000000000000010\"\t\t# \"h\"\n"
#define TO_HOST "\t\"H-0000000000000010\"[1](11) \t\t# \"h\" lid 2 4xHDR\n"
#define TO_SWITCH(port)                                                \
	"[1](11) \t\"S-0000000000000020\"[" port "]\t\t# lid 2 lmc 0 " \
	"\"s\" lid 1 4xHDR\n"

static void malformed_files_are_refused_at_their_line(void **state)
{
	struct topo t;

	(void)state;
	/* The valid part, so that the following text is wrong for one reason. */
	read_text(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("36"), &t);
	topo_fini(&t);

	refuse("", 0, "not a topology");
	refuse("hello world\n", 0, "not a topology");
	refuse(HEAD, 0, "no node");
	refuse(HEAD SWITCH "[300]" TO_HOST HOST TO_SWITCH("36"), 8,
	       "port 300 of a node that has 36 (line 7)");
	refuse(HEAD SWITCH "[0]" TO_HOST, 8, "port 0 of a node");
	refuse(HEAD SWITCH "[36]" TO_HOST, 8, "'H-0000000000000010', is not in the file");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST, 8, "is not cabled at all");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("35"), 8,
	       "port 1, is cabled elsewhere (line 12)");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("37"), 12,
	       "port 37 of a node that has 36 (line 7)");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("300"), 12, "in brackets, 1 to 255");
	refuse(HEAD SWITCH "[36]" TO_HOST "[36]" TO_HOST HOST TO_SWITCH("36"), 9,
	       "as line 8 said already");
	refuse(HEAD SWITCH
	       "[36]" TO_HOST
	       "[36]\t\"S-0000000000000020\"[1]\t\t# \"s\" lid 1 4xHDR\n" HOST TO_SWITCH("36"),
	       9, "port 36 is in use by the cable of line 8");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("36") HOST, 15,
	       "is the node of line 11 already");
	refuse(HEAD SWITCH, 4,
	       "the node where discovery began, 0000000000000010, is not in the file");
	refuse(HEAD SWITCH "\nswitchguid=0x20(20)\n"
			   "Switch\t36 \"S-0000000000000021\"\t\t# \"s\" base port 0 lid 1 lmc 0\n",
	       10, "makes it 'S-0000000000000020'");
	refuse(HEAD "Switch\t36 \"S-0000000000000020\"\t\t# \"s\" base port 0 lid 1 lmc 0\n", 6,
	       "no line with its GUID");
	refuse(HEAD
	       "switchguid=0x20(20)\nSwitch\t2147483648 \"S-0000000000000020\"\t\t# \"s\" base port 0 lid 1 lmc 0\n",
	       7, "2147483648 ports: a node has 1 to 255");
	refuse(HEAD "switchguid=0x20(20)\nSwitch\t99999999999999999999999 \"S-0000000000000020\"\n",
	       7, "expected the number of ports");
	refuse(HEAD
	       "switchguid=0x20(20)\nSwitch\t0 \"S-0000000000000020\"\t\t# \"s\" base port 0 lid 1 lmc 0\n",
	       7, "0 ports");
	refuse(HEAD "switchguid=0x123456789012345678\n", 6, "a GUID");
	refuse(HEAD SWITCH "[36]" TO_HOST HOST TO_SWITCH("36") "rubbish\n", 13, "not 'rubbish'");
}

static void misplaced_lines_are_refused(void **state)
{
	(void)state;
	refuse(HEAD "[1]" TO_HOST, 6, "no node before it");
	refuse(HEAD SWITCH "\n[1]" TO_HOST, 9, "no node before it");
	refuse("switchguid=0x20\nSwitch 8 \"s\"\n[1] \"s\"[1]\n", 3, "port 1 is cabled to itself");
	refuse("include \"other\"\n", 1, "not followed");
	refuse("do Unlink \"x\"[1]\n", 1, "not carried out");
	refuse("Switch 8 \"a\"\n[1] \"@b\"\n", 2, "the alias '@b'");
	refuse("switchguid=0x1\nSwitch 2 \"a\"\n\ncaguid=0x1\nCa 1 \"b\"\n", 5,
	       "GUID 0x0000000000000001 is that of the node of line 2");
	refuse("{ CA Ports:01\n", 1, "expected '{");
	refuse("CA 1 1 0x1 4x HDR - SW\n", 1, "expected 'TYPE");
	refuse("0x1 \"x\" 3\n", 1, "expected 'GUID");
	refuse("CA: x:\n 0x1 2 1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 7 1[  ] \"y\" ( )\n", 2,
	       "the LID 7 of the other end");
	refuse("Switch: 0x1 x\n", 1, "expected 'LID PORT");
	refuse("0x1:1 0x2\n", 1, "expected 'GUID:PORT");
	refuse("Ca\t : 0x0000000000100006 ports 1 devid 0x0\n", 0, "use ibnetdiscover without -l");
}

static void nul_bytes_are_refused(void **state)
{
	static const char text[] = "Switch 8 \"a\0b\"\n";
	struct diag d = { .status = HD_OK };
	struct topo t;

	(void)state;
	assert_int_equal(topo_read(text, sizeof(text) - 1, NULL, &d, &t), HD_ERR_INPUT);
}

/*
 * Truncated files are rejected. Formats without an end mark may be accepted if cut between lines,
 * with some of the cables.
 */
static void check_cuts(const char *path, bool has_sign)
{
	struct strbuf whole = STRBUF_INIT, links = STRBUF_INIT;
	struct topo t;

	load(path, &whole);
	links_of(path, &links);
	for (size_t len = 0; len < whole.len; len++) {
		struct diag d = { .status = HD_OK };
		struct strbuf now = STRBUF_INIT;
		char *text = hd_strndup(whole.text, len), *line, *save;

		if (topo_read(text, len, NULL, &d, &t) != HD_OK) {
			assert_true(d.message[0]);
			free(text);
			continue;
		}
		assert_false(has_sign);
		assert_int_equal(text[len - 1], '\n');
		write_as(&t, "links", &now);
		for (line = strtok_r(now.text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			assert_non_null(strstr(links.text, line));
		strbuf_fini(&now);
		topo_fini(&t);
		free(text);
	}
	strbuf_fini(&whole);
	strbuf_fini(&links);
}

static void files_cut_short_are_refused(void **state)
{
	(void)state;
	check_cuts(FIXTURE("small.ibnetdiscover"), true);
	check_cuts(FIXTURE("chassis.ibnetdiscover-g"), true);
	check_cuts(FIXTURE("small.subnet.lst"), false);
	check_cuts(FIXTURE("small.ports"), false);
	check_cuts(FIXTURE("small.linkinfo"), false);
	check_cuts(FIXTURE("small.linkinfo-nodes"), false);
	check_cuts(FIXTURE("small.neighbors"), false);
}

/* Collects all errors instead of the first. */
static void problems_are_collected_with_their_lines(void **state)
{
	static const char text[] =
		HEAD SWITCH "[1]" TO_HOST                                             /* 8 */
			    "[2]\t\"S-00000000000000ff\"[1]\t\t# \"x\" lid 1 4xHDR\n" /* 9 */
			    "[3]" TO_HOST                                             /* 10 */
			    "[1]" TO_HOST                                             /* 11 */
				    HOST /* 12 to 14 */ TO_SWITCH("1");
	static const struct {
		enum problem_kind kind;
		uint32_t line;
	} expected[] = {
		{ PROBLEM_MISSING_END, 9 },
		{ PROBLEM_ASYMMETRIC, 10 },
		{ PROBLEM_DUPLICATE, 11 },
	};
	struct topo_problems problems = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo t;

	(void)state;
	assert_int_equal(topo_read(text, sizeof(text) - 1, &problems, &d, &t), HD_OK);
	assert_int_equal(problems.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(problems.items[i].kind, expected[i].kind);
		assert_int_equal(problems.items[i].line, expected[i].line);
	}
	assert_int_equal(t.ports[topo_port_of(&t, 0, 1)].peer, topo_port_of(&t, 1, 1));
	topo_fini(&t);
	problems_fini(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_formats_give_the_same_graph),
		cmocka_unit_test(neighbors_are_the_same_cables),
		cmocka_unit_test(reads_a_real_file),
		cmocka_unit_test(ibsim_nets_are_read_as_ibsim_reads_them),
		cmocka_unit_test(ibsim_counts_guids_and_defaults),
		cmocka_unit_test(ibsim_counts_on_from_a_guid),
		cmocka_unit_test(ibsim_modules_aliases_and_settings_are_understood),
		cmocka_unit_test(nodes_stand_by_guid),
		cmocka_unit_test(recognises_formats_by_content),
		cmocka_unit_test(malformed_files_are_refused_at_their_line),
		cmocka_unit_test(misplaced_lines_are_refused),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(files_cut_short_are_refused),
		cmocka_unit_test(problems_are_collected_with_their_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
