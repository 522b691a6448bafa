/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_FABRIC_FOR_TESTS_H
#define HD_QOS_ADMISSION_FABRIC_FOR_TESTS_H

/* Generated fabrics that are addressed and routed, and requests on them. */

#include <stdio.h>
#include <stdlib.h>

#include "qos/admission/requests.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

struct routed_fabric {
	struct topo topo;
	struct subnet subnet;
};

static inline void routed_must(enum hd_status status, const struct diag *d)
{
	if (status == HD_OK)
		return;
	fprintf(stderr, "%s\n", d->message);
	abort();
}

/* 4x SDR links: 8 Gb/s of data. */
static inline void routed_init(struct routed_fabric *f, const char *kind, unsigned subnets,
			       unsigned hosts)
{
	struct diag d = { .status = HD_OK };
	const struct generator *g = generator_find(kind, &d);
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct topo_params p;

	topo_params_init(g, &p);
	p.subnets = subnets;
	p.hosts = hosts;
	p.link = "4x SDR";
	routed_must(topo_generate(g, &p, &d, &f->topo), &d);
	subnet_init(&f->subnet, &f->topo);
	routed_must(subnet_assign_lids(&f->subnet, &lids, &d), &d);
	routed_must(subnet_route(&f->subnet, "minhop", &options, &d), &d);
}

static inline void routed_fini(struct routed_fabric *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static inline struct qos_requests requests_of(const char *text)
{
	struct diag d = { .status = HD_OK };
	struct qos_requests out = { 0 };

	const struct qos_classes bands = { .n = 0 };

	routed_must(qos_requests_read(text, &bands, &d, &out), &d);
	return out;
}

#endif
