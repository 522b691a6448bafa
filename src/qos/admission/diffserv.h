/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_DIFFSERV_H
#define HD_QOS_ADMISSION_DIFFSERV_H

/*
 * DiffServ over InfiniBand: maps DSCPs to classes and SLs, and SLs to DSCPs.
 *
 * The DS byte is carried unchanged in the TClass of the GRH; its upper six bits are the DSCP.
 * Each subnet maps it to an SL of its own, so a router between subnets derives the outbound
 * SL from the TClass. The source, or the first router, sets the TClass from the SL.
 *
 *	EF		DBTS	SL 0
 *	AF4x .. AF1x	DB	SL 1, 2, 3, 4, or all SL 1
 *	CS6, CS7	DB	as AF4x: never worse than default (RFC 2474)
 *	default, CS0	BE	SL 5, or 2
 *	lower effort	CH	SL 6, or 3
 *
 * The second SL is that of the four-SL map (paper 003), for fabrics without enough VLs for a DB VL
 * per AF class. AF's drop precedence is ignored: a lossless fabric drops no packet,
 * whatever its precedence.
 */

#include <stdbool.h>
#include <stdint.h>

#include "qos/tables/classes.h"

enum {
	DSCP_DEFAULT = 0,
	DSCP_LOWER_EFFORT = 1,
	DSCP_CS1 = 8, /* lower effort, before the LE code point existed */
	DSCP_AF41 = 34,
	DSCP_EF = 46,
	DSCP_CS6 = 48, /* network control; also CS7 */
	DSCP_CS7 = 56,
	DSCP_COUNT = 64
};

struct diffserv_map {
	uint8_t sl[DSCP_COUNT];
	enum traffic_class class[DSCP_COUNT];
	uint8_t dscp[N_SLS]; /* DSCP for packets without one */
	bool separate_af;
	struct sl2vl vls;
};

/* Map for links with `vls` data VLs; AF classes are separate from 8 VLs on. */
struct diffserv_map diffserv_map_for(unsigned vls);

/* AF class 1..4 and drop precedence 1..3 of a DSCP; class 0: not AF. */
struct diffserv_af {
	unsigned class, precedence;
};
struct diffserv_af diffserv_af(uint8_t dscp);
/* "EF", "AF21", "CS5", "default", "LE", or the number. */
void diffserv_name(uint8_t dscp, struct strbuf *out);

static inline uint8_t diffserv_tclass(const struct diffserv_map *map, uint8_t sl)
{
	return (uint8_t)(map->dscp[sl] << 2);
}

struct results;

/* Two tables: class and SL of each DSCP, and DSCP of each SL. */
void diffserv_tables(const struct diffserv_map *map, struct results *r);

#endif
