/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "fabric/select.h"
#include "live/adapter.h"
#include "live/live.h"
#include "live/place.h"

/* Selects hosts of a live fabric with the selections of scenarios. */

bool cli_live_is_selection(const char *hosts)
{
	return strpbrk(hosts, ",*?%") || strstr(hosts, "..") || strcmp(hosts, "all") == 0;
}

static void add_name(const char *name, struct strbuf *out)
{
	size_t size = strlen(name);

	/* A host with several ports is listed once. */
	if (out->len >= size && strcmp(out->text + out->len - size, name) == 0 &&
	    (out->len == size || out->text[out->len - size - 1] == PLACE_BETWEEN))
		return;
	if (out->len > 0)
		strbuf_putc(out, PLACE_BETWEEN);
	strbuf_puts(out, name);
}

enum hd_status cli_live_find_hosts(const char *name, const char *hosts, struct diag *d,
				   struct strbuf *out)
{
	char *dir = live_folder(name);
	struct selection chosen = { 0 };
	struct rng rng;
	struct topo t;

	rng_init(&rng, 1, 0);
	enum hd_status status = live_topology(dir, d, &t);

	free(dir);
	if (status != HD_OK)
		return status;
	struct selector *s = selector_new(&t);

	status = select_hosts(s, hosts, &rng, d, &chosen);
	for (uint32_t i = 0; status == HD_OK && i < chosen.n; i++)
		add_name(topo_node_of(&t, chosen.ports[i])->name, out);
	free(chosen.ports);
	selector_free(s);
	topo_fini(&t);
	return status;
}

void cli_live_use_adapter(void)
{
	static const char *const defaults[][2] = {
		/* The preloaded libraries come before the runtime of AddressSanitizer. */
		{ "ASAN_OPTIONS", "verify_asan_link_order=0" },
		{ "OMPI_MCA_pml", "ucx" },
		{ "OMPI_MCA_btl", "^openib,tcp,vader" },
		{ "OMPI_MCA_osc", "^ucx" },
		{ "UCX_TLS", "rc_v,self" },
		{ "UCX_NET_DEVICES", LIVE_DEVICE ":1" },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		setenv(defaults[i][0], defaults[i][1], 0);
}
