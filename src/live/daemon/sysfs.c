/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/adapter.h"
#include "live/daemon/daemon_internal.h"

/*
 * sysfs files of an adapter: heddle0, the only one of its node, with ports umad0, umad1, ... The
 * files are those that libibumad, libibverbs and shell scripts read; each is a row of the table
 * below. Most files on disk are empty, and the preloaded library asks the daemon for their content
 * when a program reads them. Files with constant content, and those of P_Keys, hold their content:
 * programs read all 128 P_Keys at each query of a port, and P_Keys seldom change.
 */

#define DEVICE LIVE_DEVICE

struct question {
	const struct live *live;
	node_id node;
	port_id port;   /* for rows of a port */
	unsigned index; /* for rows with an index, as gids/0 */
	unsigned unit;  /* N of umadN */
};

static uint64_t info(const struct question *q, enum port_field f)
{
	return agents_port_get(q->live->agents, q->port, f);
}

static const struct topo_node *node(const struct question *q)
{
	return &q->live->topo->nodes[q->node];
}

static void put_guid(struct strbuf *out, uint64_t guid)
{
	for (int shift = 48; shift >= 0; shift -= 16)
		strbuf_printf(out, "%04x%s", (unsigned)(guid >> shift & 0xFFFF),
			      shift ? ":" : "\n");
}

static void node_guid(const struct question *q, struct strbuf *out)
{
	put_guid(out, node(q)->guid);
}

static void system_guid(const struct question *q, struct strbuf *out)
{
	put_guid(out, node(q)->system_guid ? node(q)->system_guid : node(q)->guid);
}

static void node_type(const struct question *q, struct strbuf *out)
{
	static const char *const types[] = {
		[NODE_CA] = "1: CA", [NODE_SWITCH] = "2: switch", [NODE_ROUTER] = "3: router"
	};

	strbuf_printf(out, "%s\n", types[node(q)->kind]);
}

static void node_desc(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "%s\n", node(q)->name);
}

static void board(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "MT%" PRIu32 "\n", node(q)->device);
}

static void hardware(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_printf(out, "%d\n", LIVE_HW_VERSION);
}

/* All addresses of ports, 127.64.0.0 and up, are addresses of the loopback interface. */
static void interface_index(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, "1\n");
}

static void firmware(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, "1.0.0\n");
}

static void lid(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "0x%" PRIx64 "\n", info(q, PORT_LID));
}

static void lmc(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu64 "\n", info(q, PORT_LMC));
}

static void sm_lid(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "0x%" PRIx64 "\n", info(q, PORT_SM_LID));
}

static void sm_sl(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu64 "\n", info(q, PORT_SM_SL));
}

static void cap_mask(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "0x%08" PRIx64 "\n", info(q, PORT_CAP_MASK));
}

static void state(const struct question *q, struct strbuf *out)
{
	static const char *const states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "?" };
	uint64_t s = info(q, PORT_STATE);

	strbuf_printf(out, "%" PRIu64 ": %s\n", s, states[s < 5 ? s : 5]);
}

static void physical(const struct question *q, struct strbuf *out)
{
	static const char *const states[] = { "<unknown>",
					      "Sleep",
					      "Polling",
					      "Disabled",
					      "PortConfigurationTraining",
					      "LinkUp",
					      "LinkErrorRecovery",
					      "Phy Test" };
	uint64_t s = info(q, PORT_PHYSICAL);

	strbuf_printf(out, "%" PRIu64 ": %s\n", s, states[s < 8 ? s : 0]);
}

static void rate(const struct question *q, struct strbuf *out)
{
	/* Signalling rate in tenths of Gb/s per lane. */
	static const unsigned tenths_of[SPEED_COUNT] = {
		[SPEED_SDR] = 25,  [SPEED_DDR] = 50,    [SPEED_QDR] = 100,
		[SPEED_FDR] = 140, [SPEED_FDR10] = 100, [SPEED_EDR] = 250,
		[SPEED_HDR] = 500, [SPEED_NDR] = 1000,  [SPEED_XDR] = 2000,
	};
	enum link_speed speed;
	unsigned lanes;

	agents_link(q->live->agents, q->port, &lanes, &speed);
	unsigned tenths = tenths_of[speed] * lanes;

	strbuf_printf(out, "%u", tenths / 10);
	if (tenths % 10)
		strbuf_printf(out, ".%u", tenths % 10);
	strbuf_printf(out, " Gb/sec (%uX %s)\n", lanes, hd_link_speed_name(speed));
}

static void link_layer(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, "InfiniBand\n");
}

static void gid(const struct question *q, struct strbuf *out)
{
	uint64_t prefix = info(q, PORT_GID_PREFIX);
	uint64_t guid = q->live->topo->ports[q->port].guid;

	for (int shift = 48; shift >= 0; shift -= 16)
		strbuf_printf(out, "%04x:", (unsigned)(prefix >> shift & 0xFFFF));
	put_guid(out, guid ? guid : node(q)->guid);
}

static void pkey(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "0x%04x\n", agents_pkey(q->live->agents, q->port, q->index));
}

static void abi_version(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, "5\n");
}

static void cm_abi_version(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, "4\n");
}

static void unit_device(const struct question *q, struct strbuf *out)
{
	(void)q;
	strbuf_puts(out, DEVICE "\n");
}

static void unit_port(const struct question *q, struct strbuf *out)
{
	strbuf_printf(out, "%u\n", q->live->topo->ports[q->port].number);
}

/* %p: port number, %i: index, %u: unit. */
static const struct {
	const char *path;
	void (*put)(const struct question *q, struct strbuf *out);
	unsigned n; /* number of indices (%i) */
	bool is_fixed;
} rows[] = {
	{ "infiniband_mad/abi_version", abi_version, 0, true },
	{ "misc/rdma_cm/abi_version", cm_abi_version, 0, true },
	{ "infiniband_mad/umad%u/ibdev", unit_device, 0, true },
	{ "infiniband_mad/umad%u/port", unit_port, 0, true },
	{ "infiniband_mad/issm%u/ibdev", unit_device, 0, true },
	{ "infiniband_mad/issm%u/port", unit_port, 0, true },
	{ "infiniband/" DEVICE "/node_type", node_type, 0, true },
	{ "infiniband/" DEVICE "/node_guid", node_guid, 0, true },
	{ "infiniband/" DEVICE "/sys_image_guid", system_guid, 0, true },
	{ "infiniband/" DEVICE "/node_desc", node_desc, 0, true },
	{ "infiniband/" DEVICE "/hca_type", board, 0, true },
	{ "infiniband/" DEVICE "/board_id", board, 0, true },
	{ "infiniband/" DEVICE "/hw_rev", hardware, 0, true },
	{ "infiniband/" DEVICE "/fw_ver", firmware, 0, true },
	{ "infiniband/" DEVICE "/device/net/lo/ifindex", interface_index, 0, true },
	{ "infiniband/" DEVICE "/ports/%p/lid", lid, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/lid_mask_count", lmc, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/sm_lid", sm_lid, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/sm_sl", sm_sl, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/cap_mask", cap_mask, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/state", state, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/phys_state", physical, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/rate", rate, 0, false },
	{ "infiniband/" DEVICE "/ports/%p/link_layer", link_layer, 0, true },
	{ "infiniband/" DEVICE "/ports/%p/gids/%i", gid, 1, false },
	{ "infiniband/" DEVICE "/ports/%p/pkeys/%i", pkey, 128, false },
};

/* Makes the path of a row for a port and an index. */
static void make_path(const struct question *q, const char *pattern, struct strbuf *out)
{
	for (const char *c = pattern; *c; c++) {
		if (*c != '%') {
			strbuf_putc(out, *c);
			continue;
		}
		c++;
		strbuf_printf(out, "%u",
			      *c == 'i'   ? q->index
			      : *c == 'u' ? q->unit
					  : q->live->topo->ports[q->port].number);
	}
}

/* Called for each file; true: stop. */
typedef bool file_act(const struct question *q, size_t row, const char *path, void *context);

static bool each_index(struct question *q, size_t row, file_act *act, void *context)
{
	bool stop;

	q->index = 0;
	do {
		struct strbuf path = STRBUF_INIT;

		make_path(q, rows[row].path, &path);
		stop = act(q, row, path.text, context);
		strbuf_fini(&path);
	} while (!stop && ++q->index < rows[row].n);
	return stop;
}

/* Every file of the node; ports of a switch are described by its port 0. */
static bool each_file(const struct live *l, node_id v, file_act *act, void *context)
{
	const struct topo_node *n = &l->topo->nodes[v];
	bool is_switch = n->kind == NODE_SWITCH;
	unsigned first = is_switch ? 0 : 1, last = is_switch ? 0 : n->n_ports;
	struct question q = { .live = l, .node = v };

	for (unsigned number = first; number <= last; number++) {
		q.port = n->first_port + number;
		q.unit = number - first;
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
			if (each_index(&q, r, act, context))
				return true;
	}
	return false;
}

/* Skips slashes: several are equivalent to one. */
static const char *after_slashes(const char *path)
{
	while (*path == '/')
		path++;
	return path;
}

/* Parses a number without leading zeros, as make_path writes it. */
static bool take_number(const char **path, unsigned *out)
{
	const char *at = *path;
	unsigned n = 0;

	if (*at < '0' || *at > '9' || (*at == '0' && at[1] >= '0' && at[1] <= '9'))
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (n > 9999)
			return false;
		n = 10 * n + (unsigned)(*at - '0');
	}
	*path = at;
	*out = n;
	return true;
}

/* Values of a row's pattern in a path: unit, port and index. */
struct numbers {
	unsigned unit, port, index;
	bool has_unit, has_port;
};

static bool fits(const char *pattern, const char *path, struct numbers *n)
{
	for (; *pattern; pattern++) {
		if (*pattern == '/') {
			if (*path != '/')
				return false;
			path = after_slashes(path);
			continue;
		}
		if (*pattern != '%') {
			if (*path++ != *pattern)
				return false;
			continue;
		}
		pattern++;
		n->has_unit |= *pattern == 'u';
		n->has_port |= *pattern == 'p';
		if (!take_number(&path, *pattern == 'u'   ? &n->unit
					: *pattern == 'p' ? &n->port
							  : &n->index))
			return false;
	}
	return *path == '\0';
}

/* Finds the port; false if the node has no such port. */
static bool find_port(struct question *q, const struct numbers *n)
{
	bool is_switch = node(q)->kind == NODE_SWITCH;
	unsigned first = is_switch ? 0 : 1;
	unsigned last = is_switch ? 0 : node(q)->n_ports;
	unsigned number = n->has_unit ? first + n->unit : n->has_port ? n->port : first;

	q->port = node(q)->first_port + number;
	q->unit = number - first;
	q->index = n->index;
	return number >= first && number <= last;
}

int sysfs_text(const struct live *l, node_id v, const char *path, struct strbuf *out)
{
	static const char prefix[] = "/sys/class/";
	struct question q = { .live = l, .node = v };

	if (strncmp(path, prefix, sizeof(prefix) - 1) != 0)
		return ENOENT;
	path = after_slashes(path + sizeof(prefix) - 1);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct numbers n = { 0 };

		if (!fits(rows[r].path, path, &n) || !find_port(&q, &n) ||
		    (rows[r].n > 0 && n.index >= rows[r].n))
			continue;
		rows[r].put(&q, out);
		return 0;
	}
	return ENOENT;
}

/* ---- the folders */

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST) {
			*slash = '/';
			return errno;
		}
		*slash = '/';
	}
	return 0;
}

struct making {
	const char *root;
	char first[PATH_MAX]; /* path of the first empty file; "": none yet */
	int error;
};

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	bool whole = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return whole ? 0 : EIO;
}

/*
 * Creates an empty file; the daemon answers for its content. All empty files are hard links to one
 * file, which is much faster than creating each.
 */
static int touch(const struct making *m, const char *path)
{
	if (m->first[0] && (link(m->first, path) == 0 || errno == EEXIST))
		return 0;
	if (m->first[0] && errno == ENOENT)
		return errno;
	return write_file(path, "");
}

/*
 * Replaces a P_Key file atomically. Files with the same value are hard links to one file per
 * value.
 */
static int say_key(const struct question *q, const char *path)
{
	char store[PATH_MAX], next[PATH_MAX];
	struct strbuf text = STRBUF_INIT;

	pkey(q, &text);
	if ((size_t)snprintf(store, sizeof(store), "%s/keys/%.6s", q->live->dir, text.text) >=
		    sizeof(store) ||
	    (size_t)snprintf(next, sizeof(next), "%s/keys/next", q->live->dir) >= sizeof(next)) {
		strbuf_fini(&text);
		return ENAMETOOLONG;
	}
	int error = 0;

	unlink(next);
	if (link(store, next) != 0) {
		/* No file with this value exists yet, or it has the maximum number of links. */
		error = write_file(next, text.text);
		if (!error)
			(void)!link(next, store);
	}
	if (!error && rename(next, path) != 0)
		error = errno;
	unlink(next); /* rename() does nothing if both are links to the same file */
	strbuf_fini(&text);
	return error;
}

static int say_once(const struct question *q, size_t row, const char *path)
{
	struct strbuf text = STRBUF_INIT;

	rows[row].put(q, &text);
	int error = write_file(path, text.text);

	strbuf_fini(&text);
	return error;
}

static int make_one(const struct question *q, size_t row, const struct making *m, const char *path)
{
	if (rows[row].is_fixed)
		return say_once(q, row, path);
	return rows[row].put == pkey ? say_key(q, path) : touch(m, path);
}

static bool make_file(const struct question *q, size_t row, const char *path, void *context)
{
	struct making *m = context;
	char whole[PATH_MAX];

	if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", m->root, path) >= sizeof(whole)) {
		m->error = ENAMETOOLONG;
		return true;
	}
	m->error = make_one(q, row, m, whole);
	if (m->error == ENOENT) {
		m->error = make_folders(whole);
		if (!m->error)
			m->error = make_one(q, row, m, whole);
	}
	if (!m->first[0] && !rows[row].is_fixed)
		memcpy(m->first, whole, strlen(whole) + 1);
	return m->error != 0;
}

/* Path of a node's files; false if it is too long. */
static bool root_of(const struct live *l, node_id v, char out[PATH_MAX])
{
	char host[LIVE_NAME];

	live_host_folder(l->topo->nodes[v].name, host, sizeof(host));
	return (size_t)snprintf(out, PATH_MAX, "%s/hosts/%s/sys/class", l->dir, host) < PATH_MAX;
}

static bool is_there(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0;
}

/* Creates the folder of P_Key values. */
static int make_store(const struct live *l)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/keys", l->dir) >= sizeof(path))
		return ENAMETOOLONG;
	return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int sysfs_make(const struct live *l, node_id v)
{
	char root[PATH_MAX];
	struct making m = { .root = root };

	if (!root_of(l, v, root))
		return ENAMETOOLONG;
	if (is_there(root))
		return 0;
	m.error = make_store(l);
	if (!m.error)
		each_file(l, v, make_file, &m);
	return m.error;
}

static bool renew_key(const struct question *q, size_t row, const char *path, void *context)
{
	const char *root = context;
	char whole[PATH_MAX];

	if (rows[row].put == pkey &&
	    (size_t)snprintf(whole, sizeof(whole), "%s/%s", root, path) < sizeof(whole))
		(void)say_key(q, whole);
	return false;
}

void sysfs_keys_set(void *live, port_id port)
{
	const struct live *l = live;
	node_id v = l->topo->ports[port].node;
	char root[PATH_MAX];

	if (root_of(l, v, root) && is_there(root))
		each_file(l, v, renew_key, root);
}
