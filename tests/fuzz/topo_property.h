/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FUZZ_TOPO_PROPERTY_H
#define HD_FUZZ_TOPO_PROPERTY_H

/*
 * What must hold of any text that is taken for a topology: it is refused with
 * a reason, or it is sound, and what is written of it reads back as the same
 * cables and is written the same again.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/check.h"
#include "topo/read.h"
#include "topo/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void require_sound(const struct topo *t)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		require(topo_port_of(t, p->node, p->number) == i);
		require(p->peer == TOPO_NONE ||
			(p->peer < t->n_ports && t->ports[p->peer].peer == i));
		require(p->subnet < t->n_subnets);
	}
}

static void require_stable(const struct topo *t, const char *format)
{
	const struct topo_writer *w = topo_writer_find(format);
	const struct topo_writer *links = topo_writer_find("links");
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct topo back;

	w->write(t, &first);
	require(topo_read(first.text, first.len, NULL, &d, &back) == HD_OK);
	w->write(&back, &second);
	require(strcmp(first.text, second.text) == 0);
	links->write(t, &before);
	links->write(&back, &after);
	/* ibsim takes speeds for more than they say, and none for SDR. */
	require(strcmp(format, "ibsim") == 0 || strcmp(before.text, after.text) == 0);
	topo_fini(&back);
	strbuf_fini(&first);
	strbuf_fini(&second);
	strbuf_fini(&before);
	strbuf_fini(&after);
}

static int try_topology(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	struct topo_problems found = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo t;

	if (topo_read(text, size, NULL, &d, &t) == HD_OK) {
		require_sound(&t);
		require_stable(&t, "ibnetdiscover-fg");
		require_stable(&t, "ibsim");
		topo_fini(&t);
	} else {
		require(d.message[0] && d.status != HD_OK);
	}
	d = (struct diag){ .status = HD_OK };
	if (topo_read(text, size, &found, &d, &t) == HD_OK) {
		require_sound(&t);
		topo_check(&t, &found);
		topo_fini(&t);
	}
	problems_fini(&found);
	free(text);
	return 0;
}

#endif
