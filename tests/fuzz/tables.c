/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables of dump_fts and OpenSM, read into a small fabric. What is
 * accepted is checked, written in every format, and must read back the same.
 */
#include "subnet_setup.h"

#include "subnet/multicast/mcast.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/tables/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The two leaves that the files of the corpus belong to. */
static void build(struct fuzz_subnet *f)
{
	struct topo *t = &f->topo;

	topo_init(t);
	node_id leaf1 = add_switch(t, 8), leaf2 = add_switch(t, 8);

	add_host(t, leaf1, 1);
	add_host(t, leaf1, 2);
	add_host(t, leaf2, 1);
	add_host(t, leaf2, 2);
	join(t, leaf1, 3, leaf2, 3);
	join(t, leaf1, 4, leaf2, 4);
	fuzz_subnet_program(f, NULL);
}

static void check(const struct subnet *s)
{
	struct route_check c;
	struct deadlock_check lock;
	struct mcast_check m;

	route_check(s, &c);
	route_check_deadlock(s, DEADLOCK_WITH_SWITCHES, &lock);
	mcast_check(s, &m);
	route_deadlock_fini(&lock);
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
	struct fuzz_subnet copy;
	struct tables_found found;
	struct diag d = { .status = HD_OK };

	w->write(s, &out);
	build(&copy);
	if (is_readable(w->name) &&
	    tables_read(&copy.subnet, out.text, out.len, &d, &found) != HD_OK)
		abort();
	fuzz_subnet_fini(&copy);
	strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct diag d = { .status = HD_OK };
	struct tables_found found;
	struct fuzz_subnet f;

	build(&f);
	if (tables_read(&f.subnet, text, size, &d, &found) == HD_OK) {
		check(&f.subnet);
		for (const struct table_writer *w = tables_writers; w->name; w++)
			read_back(&f.subnet, w);
	} else if (!d.message[0]) {
		abort();
	}
	fuzz_subnet_fini(&f);
	free(text);
	return 0;
}
