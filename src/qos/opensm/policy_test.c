/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

/* Two switches, three hosts; the storage server is the last. */
struct fabric {
	struct topo topo;
	struct subnet subnet;
	port_id host[3];
};

static void fabric_init(struct fabric *fabric)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	topo_init(&fabric->topo);
	node_id s1 = add_switch(&fabric->topo, 3), s2 = add_switch(&fabric->topo, 3);

	join(&fabric->topo, s1, 3, s2, 3);
	for (unsigned i = 0; i < 3; i++) {
		node_id host = add_host(&fabric->topo, i < 2 ? s1 : s2, 1 + i % 2);

		fabric->host[i] = topo_port_of(&fabric->topo, host, 1);
		fabric->topo.ports[fabric->host[i]].guid = 0x1000 + i;
	}
	subnet_init(&fabric->subnet, &fabric->topo);
	assert_int_equal(subnet_assign_lids(&fabric->subnet, &lids, &d), HD_OK);
}

static void fabric_fini(struct fabric *fabric)
{
	subnet_fini(&fabric->subnet);
	topo_fini(&fabric->topo);
}

static void must_read(struct policy *p, const char *text)
{
	struct diag d = { .status = HD_OK };

	if (policy_read(text, &d, p) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
}

static struct policy_query nothing(void)
{
	return (struct policy_query){ .source = TOPO_NONE, .destination = TOPO_NONE };
}

static const char full_form[] = "# a site\n"
				"port-groups\n"
				"  port-group\n"
				"    name: Storage\n"
				"    use: our servers\n"
				"    port-guid: 0x1002, 0x2000-0x2fff\n"
				"  end-port-group\n"
				"  port-group\n"
				"    name: Second\n"
				"    port-name: host1/P1\n"
				"  end-port-group\n"
				"  port-group\n"
				"    name: Hosts\n"
				"    node-type: CA\n"
				"  end-port-group\n"
				"end-port-groups\n"
				"qos-setup\n"
				"  vlarb-tables\n"
				"  qos-level\n"
				"end-qos-setup\n"
				"qos-levels\n"
				"  qos-level\n"
				"    name: DEFAULT\n"
				"    sl: 0\n"
				"  end-qos-level\n"
				"  qos-level\n"
				"    name: disks\n"
				"    sl: 3\n"
				"    mtu-limit: 4\n"
				"  end-qos-level\n"
				"  qos-level\n"
				"    name: voice\n"
				"    sl: 1\n"
				"  end-qos-level\n"
				"end-qos-levels\n"
				"qos-match-rules\n"
				"  qos-match-rule\n"
				"    service-id: 0x100-0x1ff\n"
				"    pkey: 0x0abc\n"
				"    qos-level-name: voice\n"
				"  end-qos-match-rule\n"
				"  qos-match-rule\n"
				"    source: Hosts\n"
				"    destination: Storage\n"
				"    qos-level-name: disks\n"
				"  end-qos-match-rule\n"
				"  qos-match-rule\n"
				"    source: Second\n"
				"    qos-class: 7-9,11\n"
				"    qos-level-name: voice\n"
				"  end-qos-match-rule\n"
				"end-qos-match-rules\n";

static void the_first_rule_whose_criteria_all_match_counts(void **state)
{
	(void)state;
	struct fabric fabric;
	struct policy p;
	struct policy_query q = nothing();

	fabric_init(&fabric);
	must_read(&p, full_form);
	assert_string_equal(policy_match(&p, &fabric.subnet, &q).level, "DEFAULT");
	q.source = fabric.host[0];
	q.destination = fabric.host[2];
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 3);
	/* Both criteria of the first rule match, so it precedes the second. */
	q.has_service_id = q.has_pkey = true;
	q.service_id = 0x1ff;
	q.pkey = 0x8abc; /* full member of the same partition */
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 1);
	q.service_id = 0x200;
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 3);
	/* A criterion without a value in the query does not match. */
	q.service_id = 0x1ff;
	q.has_pkey = false;
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 3);
	policy_fini(&p);
	fabric_fini(&fabric);
}

static void ports_are_known_by_guid_name_and_kind(void **state)
{
	(void)state;
	struct fabric fabric;
	struct policy p;
	struct policy_query q = nothing();

	fabric_init(&fabric);
	must_read(&p, full_form);
	q.source = fabric.host[1];
	q.destination = fabric.host[0];
	q.has_class = true;
	for (q.class = 0; q.class < 16; q.class ++)
		assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl,
				 (q.class >= 7 && q.class <= 9) || q.class == 11 ? 1 : 0);
	/* A switch is no host: the rule of the disks is not its. */
	q.has_class = false;
	q.destination = fabric.host[2];
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 3);
	q.source = topo_port_of(&fabric.topo, 0, 0);
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 0);
	policy_fini(&p);
	fabric_fini(&fabric);
}

/* Service ids of the annex: SDP 0x1pppp, RDS and iSER 0x106pppp. */
static void the_short_form_knows_services(void **state)
{
	(void)state;
	static const char text[] = "qos-ulps\n"
				   "  sdp, port-num 30000 : 1\n"
				   "  sdp, port-num 10000-20000: 2\n"
				   "  sdp : 3\n"
				   "  rds : 4\n"
				   "  iser, port-num 900 : 5\n"
				   "  iser : 6\n"
				   "  ipoib, pkey 0x0abc : 7\n"
				   "  ipoib : 8\n"
				   "  any, service-id 0x6234 : 9\n"
				   "  srp, target-port-guid 0x1002 : 10\n"
				   "  default : 11\n"
				   "end-qos-ulps\n";
	static const struct {
		uint64_t service_id;
		uint8_t sl;
	} rows[] = {
		{ 0x10000 + 30000, 1 }, { 0x10000 + 15000, 2 }, { 0x10000 + 1, 3 },
		{ 0x10648ca, 4 },       { 0x1060000 + 900, 5 }, { 0x1060cbc, 6 },
		{ 0x6234, 9 },          { 0x6235, 11 },
	};
	struct fabric fabric;
	struct policy p;
	struct policy_query q = nothing();

	fabric_init(&fabric);
	must_read(&p, text);
	q.has_service_id = true;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		q.service_id = rows[i].service_id;
		assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, rows[i].sl);
	}
	q = nothing();
	q.has_pkey = true;
	q.pkey = 0x8abc;
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 7);
	q.pkey = 0xffff;
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 8);
	q = nothing();
	q.destination = fabric.host[2];
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).sl, 10);
	assert_int_equal(policy_match(&p, &fabric.subnet, &q).line, 11);
	policy_fini(&p);
	fabric_fini(&fabric);
}

static void match_rules_beat_the_short_form(void **state)
{
	(void)state;
	static const char text[] = "qos-ulps\n any, service-id 5 : 2\n"
				   "end-qos-ulps\n"
				   "qos-levels\n"
				   " qos-level\n name: DEFAULT\n sl: 0\n"
				   " end-qos-level\n"
				   " qos-level\n name: x\n sl: 6\n"
				   " end-qos-level\n"
				   "end-qos-levels\n"
				   "qos-match-rules\n"
				   " qos-match-rule\n service-id: 5\n"
				   " qos-level-name: x\n end-qos-match-rule\n"
				   "end-qos-match-rules\n";
	struct policy p;
	struct policy_query q = nothing();

	must_read(&p, text);
	q.has_service_id = true;
	q.service_id = 5;
	assert_int_equal(policy_match(&p, NULL, &q).sl, 6);
	q.service_id = 6;
	assert_int_equal(policy_match(&p, NULL, &q).sl, 0);
	policy_fini(&p);
}

static void errors_are_refused_with_their_line(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned line;
		const char *words;
	} rows[] = {
		{ "qos-ulps\n sdp\nend-qos-ulps\n", 2, "no ': SL'" },
		{ "qos-ulps\n sdp : 16\nend-qos-ulps\n", 2, "not a number" },
		{ "qos-ulps\n any : 1\nend-qos-ulps\n", 2, "has no criterion" },
		{ "qos-ulps\n tcp : 1\nend-qos-ulps\n", 2, "no service" },
		{ "qos-ulps\n sdp, port-num 9-2 : 1\nend-qos-ulps\n", 2, "ends before" },
		{ "qos-levels\n", 2, "ends inside" },
		{ "port-group\n", 1, "not expected" },
		{ "name: x\n", 1, "not expected" },
		{ "qos-levels\n qos-level\n colour: red\n", 3, "no 'colour'" },
		{ "qos-match-rules\n qos-match-rule\n"
		  " qos-level-name: none\n end-qos-match-rule\n"
		  "end-qos-match-rules\n",
		  2, "no level is called 'none'" },
		{ "qos-levels\n qos-level\n name: a\n sl: 1\n end-qos-level\n"
		  "end-qos-levels\n",
		  0, "DEFAULT" },
		{ "qos-ulps\n sdp : 3\nend-qos-ulps\n", 0, "discards" },
		{ "qos-levels\n qos-level\n name: DEFAULT\n end-qos-level\n"
		  "end-qos-levels\n",
		  2, "without 'sl'" },
		{ "qos-match-rules\n qos-match-rule\n destination:\n", 3, "says nothing" },
		{ "QOS-ULPS\n", 1, "not expected" },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct policy p;

		assert_int_equal(policy_read(rows[i].text, &d, &p), HD_ERR_INPUT);
		if (!strstr(d.message, rows[i].words))
			fail_msg("%u: %s", i, d.message);
		assert_int_equal(d.line, rows[i].line);
		policy_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_whose_criteria_all_match_counts),
		cmocka_unit_test(ports_are_known_by_guid_name_and_kind),
		cmocka_unit_test(the_short_form_knows_services),
		cmocka_unit_test(match_rules_beat_the_short_form),
		cmocka_unit_test(errors_are_refused_with_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
