/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_verify_plan.h"

/* The fabric as OpenSM programs it. */
static enum hd_status open_conf(const struct cli_verify_plan *p, struct fabric_choice *choice,
				const char *fabric, struct diag *d, struct fabric **out)
{
	overrides_put(&choice->overrides, "PLAN", "qos.opensm", "%s", p->conf);
	overrides_put(&choice->overrides, "PLAN", "qos.vls", "15");
	enum hd_status status = fabric_open(fabric, &choice->overrides, d, out);

	if (status == HD_OK && !(*out)->scenario->opensm->qos) {
		fabric_free(*out);
		d->file = NULL; /* the name of the fabric's file does not apply */
		return diag_fail(
			d, HD_ERR_INPUT,
			"%s: 'qos' is not TRUE, so OpenSM ignores all QoS settings; set 'qos TRUE'",
			p->conf);
	}
	return status;
}

/* The fabric as 'heddle live sm' programs it. */
static enum hd_status open_tables(struct cli_verify_plan *p, struct fabric_choice *choice,
				  const char *fabric, struct diag *d, struct fabric **out)
{
	size_t n;

	if (port_conf_load(p->tables, d, &p->ports) != HD_OK)
		return d->status;
	overrides_put(&choice->overrides, "--tables", "qos.vls", "%u", p->ports.vls);
	enum hd_status status = fabric_open(fabric, &choice->overrides, d, out);

	if (status != HD_OK)
		return status;
	d->file = p->tables;
	status = port_tables_cover(&p->ports, &(*out)->topo, d);
	if (status == HD_OK)
		status = port_tables_apply(&p->ports, &(*out)->subnet, d, &n);
	if (status != HD_OK)
		fabric_free(*out);
	return status;
}

enum hd_status cli_verify_plan_open(struct cli_verify_plan *p, struct fabric_choice *choice,
				    const char *fabric, struct diag *d, struct fabric **out)
{
	enum hd_status status = fabric_choice_overrides(choice, SEED_OF_SCENARIO, d);

	if (status != HD_OK)
		return status;
	return p->conf ? open_conf(p, choice, fabric, d, out)
		       : open_tables(p, choice, fabric, d, out);
}

void cli_verify_plan_fini(struct cli_verify_plan *p)
{
	port_tables_fini(&p->ports);
}
