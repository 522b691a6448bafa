/* SPDX-License-Identifier: BSD-2-Clause */
/* SL2VL tables of OpenSM: what is accepted is written and reads back alike. */
#include <stdlib.h>
#include <string.h>

#include "subnet/deadlock.h"
#include "subnet/fabric_for_tests.h"
#include "subnet/lanes.h"
#include "subnet/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void build(struct topo *t, struct subnet *s)
{
	static const struct lid_options o = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };
	node_id sw[3];

	topo_init(t);
	for (unsigned i = 0; i < 3; i++) {
		sw[i] = add_switch(t, 4);
		add_host(t, sw[i], 1);
	}
	for (unsigned i = 0; i < 3; i++)
		join(t, sw[i], 2, sw[(i + 1) % 3], 3);
	subnet_init(s, t);
	if (subnet_assign_lids(s, &o, &d) != HD_OK ||
	    subnet_route(s, "minhop", NULL, &d) != HD_OK)
		abort();
}

static void read_back(const struct subnet *s)
{
	struct strbuf out = STRBUF_INIT, again = STRBUF_INIT;
	struct subnet copy;
	struct topo same;
	struct diag d = { .status = HD_OK };

	sl2vl_write(s, &out);
	build(&same, &copy);
	if (sl2vl_read(&copy, out.text, out.len, &d) != HD_OK)
		abort();
	sl2vl_write(&copy, &again);
	if (strcmp(out.text, again.text) != 0)
		abort();
	subnet_fini(&copy);
	topo_fini(&same);
	strbuf_fini(&out);
	strbuf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	struct deadlock_check c;

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	build(&t, &s);
	if (sl2vl_read(&s, text, size, &d) == HD_OK) {
		check_deadlock(&s, false, &c);
		deadlock_check_fini(&c);
		read_back(&s);
	} else if (!d.message[0]) {
		abort();
	}
	subnet_fini(&s);
	topo_fini(&t);
	free(text);
	return 0;
}
