/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_ENDS_H
#define HD_SUBNET_TABLES_ENDS_H

/*
 * End ports and multicast groups as users name them.
 *
 * An end port is the name of its node, a LID ("12"), a GUID ("0x1a2b") of its
 * own or of its node, or a name and port number ("node7/2"). A group is
 * METHOD[@SOURCE]=MEMBER,... where "*" means all end ports, as in
 * "xy@h12=h3,h4" or "shared=*"; the source of a shared tree sends besides its
 * members and receives nothing. The method "auto" leaves the kind of tree to
 * mcast_choose.
 */

#include "base/option.h"
#include "subnet/multicast/mcast_choose.h"

/*
 * The first end port of the node of that name or GUID, or the one of that GUID:
 * what needs no LIDs. HD_ERR_NOT_FOUND if not found, HD_ERR_INPUT if
 * several nodes have the name.
 */
HD_MUST_CHECK enum hd_status end_named(const struct topo *t, const char *name, struct diag *d,
				       port_id *out);
HD_MUST_CHECK enum hd_status end_find(const struct subnet *s, const char *text, struct diag *d,
				      port_id *out);

/* The groups whose trees are to be chosen. */
struct group_list {
	struct mcast_group *groups;
	uint32_t n;
	size_t cap;
};
void tables_group_list_fini(struct group_list *l);

/* Adds the group to the subnet, or to those to be chosen. */
HD_MUST_CHECK enum hd_status group_add(struct subnet *s, const char *text, uint8_t sl,
				       struct group_list *open, struct diag *d);

/*
 * Groups with names, as options --group NAME:METHOD[@SOURCE]=MEMBERS have them:
 * they are the last groups of the subnet, in that order.
 */
HD_MUST_CHECK enum hd_status named_groups_add(struct subnet *s, const struct option_list *list,
					      struct diag *d);

#define GROUP_PREFIX "group:"
/*
 * The group that a request from `source` calls "group:NAME"; lets the source
 * send to it if it may. HD_ERR_NOT_FOUND or HD_ERR_UNFIT and why.
 */
HD_MUST_CHECK enum hd_status named_group_find(struct subnet *s, const struct option_list *list,
					      const char *name, port_id source, struct diag *d,
					      uint32_t *out);

#endif
