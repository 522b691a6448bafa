/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables of dump_fts and OpenSM, read into a small fabric. What is
 * accepted is checked, written in every format, and must read back the same.
 */
#include <stdlib.h>
#include <string.h>

#include "subnet/check.h"
#include "subnet/deadlock.h"
#include "subnet/fabric_for_tests.h"
#include "subnet/mcast.h"
#include "subnet/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The two leaves that the files of the corpus belong to. */
static void build(struct topo *t, struct subnet *s)
{
	static const struct lid_options o = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	topo_init(t);
	node_id leaf1 = add_switch(t, 8), leaf2 = add_switch(t, 8);

	add_host(t, leaf1, 1);
	add_host(t, leaf1, 2);
	add_host(t, leaf2, 1);
	add_host(t, leaf2, 2);
	join(t, leaf1, 3, leaf2, 3);
	join(t, leaf1, 4, leaf2, 4);
	subnet_init(s, t);
	if (subnet_assign_lids(s, &o, &d) != HD_OK)
		abort();
}

static void check(const struct subnet *s)
{
	struct route_check c;
	struct deadlock_check lock;
	struct mcast_check m;

	check_routes(s, &c);
	check_deadlock(s, true, &lock);
	check_mcast(s, &m);
	deadlock_check_fini(&lock);
}

/* What tables_read takes; SL2VL tables have a reader, and a harness, apart. */
static bool is_readable(const char *name)
{
	return strcmp(name, "json") != 0 && strcmp(name, "mcfdbs") != 0 &&
	       strcmp(name, "sl2vl") != 0;
}

static void read_back(const struct subnet *s, const struct table_writer *w)
{
	struct strbuf out = STRBUF_INIT;
	struct subnet copy;
	struct topo same;
	struct tables_found found;
	struct diag d = { .status = HD_OK };

	w->write(s, &out);
	build(&same, &copy);
	if (is_readable(w->name) &&
	    tables_read(&copy, out.text, out.len, &d, &found) != HD_OK)
		abort();
	subnet_fini(&copy);
	topo_fini(&same);
	strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* With the NUL that readers rely on, where a read too far is seen. */
	char *text = calloc(1, size + 1);
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	struct tables_found found;

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	build(&t, &s);
	if (tables_read(&s, text, size, &d, &found) == HD_OK) {
		check(&s);
		for (const struct table_writer *w = table_writers; w->name; w++)
			read_back(&s, w);
	} else if (!d.message[0]) {
		abort();
	}
	subnet_fini(&s);
	topo_fini(&t);
	free(text);
	return 0;
}
