/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/partitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * Writes "name=key/sl: members" of each partition, as OpenSM's man page and its responses
 * (tests/cli/partitions_opensm.sh) define them.
 */
static char *read_back(const char *text)
{
	static const char *const who[] = { "", "ALL", "CAS", "SWITCHES", "ROUTERS", "SELF" };
	struct diag d = { .status = HD_OK };
	struct partitions p;
	struct strbuf out = STRBUF_INIT;

	if (partitions_read(text, &d, &p) != HD_OK)
		strbuf_printf(&out, "%u: %s", d.line, d.message);
	for (size_t i = 1; d.status == HD_OK && i < p.n; i++) {
		strbuf_printf(&out, "%s=%x/%u:", p.items[i].name, p.items[i].key, p.items[i].sl);
		for (size_t k = 0; k < p.items[i].n_members; k++) {
			const struct partition_member *m = &p.items[i].members[k];

			strbuf_printf(&out, " %s", who[m->who]);
			if (m->who == PARTITION_PORT)
				strbuf_printf(&out, "%llx", (unsigned long long)m->guid);
			strbuf_puts(&out, m->full ? "+" : "");
		}
		strbuf_putc(&out, ';');
	}
	partitions_fini(&p);
	return strbuf_detach(&out);
}

static void files_are_read_as_opensm_reads_them(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "# nothing\n", "" },
		{ "a=0x8001:ALL=full;", "a=1/0: ALL+;" },
		{ "a=2,sl=3:0x10,0x11=full,0x12=both;", "a=2/3: 10 11+ 12+;" },
		{ "a=2,defmember=full : 0x10,\n 0x11=limited\n, SELF ;", "a=2/0: 10+ 11 SELF+;" },
		{ "a=2:ALL;b=3:ALL_CAS=f;", "a=2/0: ALL;b=3/0: CAS+;" },
		{ "a:ALL; b:ALL; 7:ALL;", "a=1/0: ALL;b=2/0: ALL;0007=7/0: ALL;" },
		{ "a=2,sl=1:0x10;b=2,sl=4:0x11=full;", "a=2/4: 10 11+;" },
		{ "a=2,ipoib,rate=6,mtu=5,scope=2,new=1:ALL_SW,ALL_R;",
		  "a=2/0: SWITCHES ROUTERS;" },
		{ "a=2,sl=16:NONE;", "a=2/0:;" },
		{ "a=2:0x10,\nmgid=ff12::1,sl=1;", "a=2/0: 10;" },
		{ "a=2:0x10 # b\n;", "a=2/0: 10;" },
		/* Expected error. */
		{ "a=2\n", "1: no ':' after a partition's name in 'a=2'" },
		{ "a=x:ALL;", "1: no P_Key is 'x'" },
		{ "\na=2:h1;", "2: no port's GUID is 'h1'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = read_back(cases[i][0]);

		assert_string_equal(got, cases[i][1]);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_as_opensm_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
