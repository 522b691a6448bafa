/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/readback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

/* Values in short: "lid.port kind[index]=value:weight@line". */
static void note(void *context, const struct readback *r)
{
	static const char *const kinds[] = { "VLs", "limit", "high", "low", "map" };

	/* Most entries of a table are 0. */
	if ((r->kind == READBACK_HIGH || r->kind == READBACK_LOW) && !r->weight)
		return;
	if (r->kind == READBACK_MAP && r->value == 0)
		return;
	strbuf_printf(context, "%llx/%u.%u<%u %s[%u]=%u:%u@%u\n", (unsigned long long)r->guid,
		      r->lid, r->port, r->in, kinds[r->kind], r->index, r->value, r->weight,
		      r->line);
}

static void assert_told(const char *text, size_t n, const char *expected)
{
	struct strbuf got = STRBUF_INIT;

	assert_int_equal(opensm_readback_parse(text, note, &got), n);
	assert_string_equal(got.text, expected);
	strbuf_fini(&got);
}

static void what_smpquery_prints_is_read(void **state)
{
	(void)state;
	assert_told("# VLArbitration tables: Lid 2 port 3 LowCap 8 HighCap 8\n"
		    "# Low priority VL Arbitration Table:\n"
		    "VL    : |0x1 |0x2 |0x0 |0x0 |\n"
		    "WEIGHT: |0xC0|0x40|0x0 |0x0 |\n"
		    "VL    : |0x3 |0x0 |0x0 |0x0 |\n"
		    "WEIGHT: |0x1 |0x0 |0x0 |0x0 |\n"
		    "# High priority VL Arbitration Table:\n"
		    "VL    : |0xe |0x0 |\n"
		    "WEIGHT: |0xff|0x0 |\n",
		    10,
		    "0/2.3<0 low[0]=1:192@4\n"
		    "0/2.3<0 low[1]=2:64@4\n"
		    "0/2.3<0 low[4]=3:1@6\n"
		    "0/2.3<0 high[0]=14:255@9\n");
	assert_told("# SL2VL table: Lid 5\n"
		    "#                 SL: | 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|\n"
		    "ports: in  4, out 12: | 0| 1| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0|15|\n",
		    16,
		    "0/5.12<4 map[1]=1:0@3\n"
		    "0/5.12<4 map[15]=15:0@3\n");
	assert_told("# Port info: Lid 8 port 1\n"
		    "Lid:.............................8\n"
		    "VLHighLimit:.....................2\n"
		    "OperVLs:.........................VL0-14\n"
		    "# Port info: Lid 9 port 2\n"
		    "OperVLs:.........................VL0\n",
		    3,
		    "0/8.1<0 limit[0]=2:0@3\n"
		    "0/8.1<0 VLs[0]=15:0@4\n"
		    "0/9.2<0 VLs[0]=1:0@6\n");
}

static void what_saquery_prints_is_read(void **state)
{
	(void)state;
	assert_told("VLArbTableRecord dump:\n"
		    "\t\tLID........................2\n"
		    "\t\tPort.......................7\n"
		    "\t\tBlock......................4\n"
		    "\t\tVL    : 0| 9|\n"
		    "\t\tWeight: 0|33|\n"
		    "\t\tVL    : 3| 0|\n"
		    "\t\tWeight: 5| 0|\n",
		    4,
		    "0/2.7<0 high[33]=9:33@6\n"
		    "0/2.7<0 high[34]=3:5@8\n");
	assert_told("SL2VLTableRecord dump:\n"
		    "\t\tLID........................3\n"
		    "\t\tInPort.....................1\n"
		    "\t\tOutPort....................2\n"
		    "\t\tSL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|\n"
		    "\t\tVL: 0| 4| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0|\n",
		    16, "0/3.2<1 map[1]=4:0@6\n");
	assert_told("PortInfoRecord dump:\n\tRID\n"
		    "\t\tEndPortLid..............6\n"
		    "\t\tPortNum.................4\n"
		    "\tPortInfo dump:\n"
		    "\t\tVLHighLimit:.....................255\n"
		    "\t\tOperVLs:.........................VL0-3\n",
		    2,
		    "0/6.4<0 limit[0]=255:0@6\n"
		    "0/6.4<0 VLs[0]=4:0@7\n");
}

static void what_opensm_dumps_is_read_and_the_rest_is_not(void **state)
{
	(void)state;
	assert_told("Switch 0x0220000000000001, base LID 2, \"s1-0\"\n"
		    "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
		    "#--------------------------------------------------------\n"
		    "3   1   : 0  0  2  0  0  0  0  0  0  0  0  0  0  0  0  0 \n",
		    16, "220000000000001/0.1<3 map[2]=2:0@4\n");
	assert_told("", 0, "");
	assert_told("ports: in  4, out 12: | 0| 1|\nVL: 1| 2|\n", 0, "");
	assert_told("# SL2VL table: Lid 5\nports: in  4, out 12: | 0| 1|\n", 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_smpquery_prints_is_read),
		cmocka_unit_test(what_saquery_prints_is_read),
		cmocka_unit_test(what_opensm_dumps_is_read_and_the_rest_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
