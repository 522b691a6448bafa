/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_ENDS_H
#define HD_SUBNET_TABLES_ENDS_H

/*
 * Parses end ports and multicast groups in user notation.
 *
 * An end port is given as the name of its node, a LID ("12"), a GUID ("0x1a2b")
 * of the port or its node, or a node name and port number ("node7/2"). A group
 * is METHOD[@SOURCE]=MEMBER,... where "*" means all end ports, as in
 * "xy@h12=h3,h4" or "shared=*". The source of a shared tree sends in addition
 * to the members and receives nothing. With the method "auto", mcast_choose
 * selects the kind of tree.
 */

#include "base/option.h"
#include "subnet/multicast/mcast_choose.h"

/*
 * Finds the first end port of the node with that name or GUID, or the end port
 * with that GUID; needs no LIDs. HD_ERR_NOT_FOUND if none exists,
 * HD_ERR_INPUT if several nodes have the name.
 */
HD_MUST_CHECK enum hd_status end_named(const struct topo *t, const char *name, struct diag *d,
				       port_id *out);
HD_MUST_CHECK enum hd_status end_find(const struct subnet *s, const char *text, struct diag *d,
				      port_id *out);

/* Groups whose trees mcast_choose will select. */
struct group_list {
	struct mcast_group *groups;
	uint32_t n;
	size_t cap;
};
void tables_group_list_fini(struct group_list *l);

/* Adds the group to the subnet, or to the groups of mcast_choose. */
HD_MUST_CHECK enum hd_status group_add(struct subnet *s, const char *text, uint8_t sl,
				       struct group_list *open, struct diag *d);

/*
 * Adds named groups, in the notation of --group NAME:METHOD[@SOURCE]=MEMBERS.
 * They become the last groups of the subnet, in that order.
 */
HD_MUST_CHECK enum hd_status named_groups_add(struct subnet *s, const struct option_list *list,
					      struct diag *d);

#define GROUP_PREFIX "group:"
/*
 * Finds the group "group:NAME" for a request from `source`, and admits the
 * source as a sender if permitted. HD_ERR_NOT_FOUND or HD_ERR_UNFIT with the
 * reason.
 */
HD_MUST_CHECK enum hd_status named_group_find(struct subnet *s, const struct option_list *list,
					      const char *name, port_id source, struct diag *d,
					      uint32_t *out);

#endif
