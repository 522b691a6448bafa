/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_PORT_CONF_H
#define HD_QOS_OPENSM_PORT_CONF_H

/*
 * Tables of single ports (subnet/tables/port_tables.h) as text, in the keys
 * and the notation of opensm.conf, which itself has tables of kinds of ports
 * only:
 *
 *	heddle-port-tables 1
 *	max_op_vls 4
 *	port 0x0000000000100001 1 # h0
 *	qos_high_limit 255
 *	qos_vlarb_high 4:255,5:17
 *	qos_vlarb_low 0:204,1:1
 *	qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
 *
 * A port is the GUID of its node and its number. Unlike opensm.conf the file
 * is read strictly: each port has all four keys, once; lists are decimal, with
 * VLs that max_op_vls allows, and sl2vl has 16.
 */

#include "base/strbuf.h"
#include "qos/opensm/opensm.h"
#include "subnet/tables/port_tables.h"

HD_MUST_CHECK enum hd_status port_conf_read(const char *text, struct diag *d,
					    struct port_tables *out);
/* The same for a file, "-" for standard input. */
HD_MUST_CHECK enum hd_status port_conf_load(const char *path, struct diag *d,
					    struct port_tables *out);

/*
 * Writes all ports with a cable, with these arbitration tables (by port_id) and the subnet's maps.
 * HD_ERR_UNFIT for tables that the format lacks: a node without GUID, a map that depends on the
 * input port, a routing algorithm that chooses VLs.
 */
HD_MUST_CHECK enum hd_status port_conf_write(const struct subnet *s, const struct vlarb *tables,
					     struct diag *d, struct strbuf *out);
HD_MUST_CHECK enum hd_status port_conf_save(const char *path, const struct subnet *s,
					    const struct vlarb *tables, struct diag *d);

#endif
