/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration of OpenSM becomes tables of a fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "fabric/fabric.h"

/* Two switches; links have 8, 4, 15, 1 and 2 VLs, s1 an enhanced port 0. */
#define NET HD_SOURCE_DIR "/tests/fixtures/opensm/kinds.net"

static struct fabric *build(const char *conf, const char *qos)
{
	char path[] = "/tmp/heddle-opensm.XXXXXX";
	int fd = mkstemp(path);
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct fabric *fabric = NULL;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, conf, strlen(conf), &d), HD_OK);
	strbuf_printf(&text,
		      "fabric: {topology: {file: " NET "}}\n"
		      "qos: {vls: 15, opensm: %s%s}\n",
		      path, qos);
	if (fabric_load(text.text, text.len, NULL, NULL, &d, &fabric) != HD_OK)
		fail_msg("%s", d.message);
	unlink(path);
	strbuf_fini(&text);
	return fabric;
}

static port_id port_named(const struct fabric *fabric, const char *node, unsigned number)
{
	for (node_id v = 0; v < fabric->topo.n_nodes; v++) {
		if (strcmp(fabric->topo.nodes[v].name, node) == 0)
			return topo_port_of(&fabric->topo, v, number);
	}
	fail_msg("no node %s", node);
	return TOPO_NONE;
}

/* Each kind of port uses its own set, folded to the VLs of its link. */
static void kinds_of_ports_have_their_sets(void **state)
{
	(void)state;
	struct fabric *fabric = build("qos TRUE\n"
				      "qos_high_limit 3\n"
				      "qos_rtr_high_limit 9\n"
				      "qos_vlarb_low 5:10,6:20\n"
				      "qos_ca_vlarb_low 7:30\n"
				      "qos_sl2vl 5,6,15\n"
				      "qos_ca_sl2vl 7,7,7\n",
				      "");
	const struct subnet *s = &fabric->subnet;
	const struct vlarb *h0 = vlarb_of(s, port_named(fabric, "h0", 1));
	const struct vlarb *h1 = vlarb_of(s, port_named(fabric, "h1", 1));
	const struct vlarb *s1 = vlarb_of(s, port_named(fabric, "s1", 2));
	const struct vlarb *r0 = vlarb_of(s, port_named(fabric, "r0", 1));

	assert_int_equal(h0->low[0].vl, 7); /* 8 VLs */
	assert_int_equal(h1->low[0].vl, 3); /* 4 VLs */
	assert_int_equal(h1->low[0].weight, 30);
	assert_int_equal(s1->low[0].vl, 1); /* to h1: 4 VLs */
	assert_int_equal(s1->low[1].vl, 2);
	assert_int_equal(s1->high_limit, 3);
	assert_int_equal(r0->high_limit, 9);
	assert_int_equal(sl2vl_of(s, port_named(fabric, "h1", 1))->vl[1], 3);
	assert_int_equal(sl2vl_at(s, 0, 1, 2)->vl[0], 1);
	assert_int_equal(sl2vl_at(s, 0, 1, 2)->vl[2], 15);
	assert_int_equal(sl2vl_at(s, 0, 1, 2)->vl[3], 0); /* padded */
	assert_int_equal(sl2vl_at(s, 0, 1, 4)->vl[1], 6); /* 15 VLs */
	fabric_free(fabric);
}

static void vls_and_entries_are_limited(void **state)
{
	(void)state;
	struct fabric *fabric = build("qos TRUE\nmax_op_vls 3\n"
				      "qos_vlarb_low 0:1,1:2,2:3,3:4,4:5\n",
				      ", entries: 3");
	const struct subnet *s = &fabric->subnet;

	assert_int_equal(scenario_vls(fabric->scenario), 4);
	assert_int_equal(s->vls_of_port[port_named(fabric, "s1", 4)], 4);
	assert_int_equal(s->vls_of_port[port_named(fabric, "h3", 1)], 2);
	assert_int_equal(vlarb_of(s, port_named(fabric, "s1", 4))->n_low, 3);
	fabric_free(fabric);
}

/* Tables that OpenSM does not send stay; the VLs are limited all the same. */
static void without_qos_nothing_is_sent(void **state)
{
	(void)state;
	struct fabric *fabric = build("max_op_vls 2\nqos_vlarb_low 0:77\n", "");
	const struct subnet *s = &fabric->subnet;
	const struct vlarb *arb = vlarb_of(s, port_named(fabric, "s1", 1));
	const struct vlarb plain = vlarb_default(2);

	assert_int_equal(s->vls_of_port[port_named(fabric, "s1", 1)], 2);
	assert_memory_equal(arb, &plain, sizeof(plain));
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_ports_have_their_sets),
		cmocka_unit_test(vls_and_entries_are_limited),
		cmocka_unit_test(without_qos_nothing_is_sent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
