/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/generate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "base/text.h"
#include "topo/builder.h"

#define FIELD(name) offsetof(struct topo_params, name)

#define COUNT(field, word, first, least, most, text)                                    \
	{                                                                               \
		.name = (word), .kind = OPT_UINT, .offset = FIELD(field), .value = "N", \
		.initial = (first), .help = (text), .low = (least), .high = (most)      \
	}
#define TEXT(field, word, called, first, text)                                               \
	{                                                                                    \
		.name = (word), .kind = OPT_TEXT, .offset = FIELD(field), .value = (called), \
		.initial = (first), .help = (text)                                           \
	}
#define HOSTS(first, text) COUNT(hosts, "hosts", first, 0, 255, text)
#define HOST_ROWS(first)                                               \
	HOSTS(first, "hosts on each switch"),                          \
		COUNT(host_ports, "host-ports", "1", 1, 255,           \
		      "ports of each host, all cabled to its switch"), \
		COUNT(tcas, "tcas", "0", 0, 255,                       \
		      "how many of a switch's hosts are target adapters") /* clang-format off */
#define END { .name = NULL }
/* clang-format on */
#define GROUP_ROWS                                                                                 \
	COUNT(groups, "groups", "0", 0, 65535, "groups; 0 is as many as each can reach directly"), \
	{                                                                                          \
		.name = "arrangement", .kind = OPT_CHOICE, .offset = FIELD(arrangement),           \
		.value = "NAME", .initial = "palmtree", .choices = arrangements,                   \
		.help = "which group a global port leads to: absolute, "                           \
			"palmtree"                                                                 \
	}

static const char *const arrangements[] = { "absolute", "palmtree", NULL };

static const struct option mesh_params[] = {
	COUNT(columns, "columns", "4", 1, 65535, "switches from west to east"),
	COUNT(rows, "rows", "4", 1, 65535, "switches from south to north"),
	HOST_ROWS("1"),
	END,
};

static const struct option node_mesh_params[] = {
	COUNT(columns, "columns", "4", 1, 65535, "nodes from west to east"),
	COUNT(rows, "rows", "4", 1, 65535, "nodes from south to north"),
	END,
};

static const struct option torus_params[] = {
	TEXT(sizes, "sizes", "AxB..", "4x4", "switches along each dimension"),
	HOST_ROWS("1"),
	END,
};

static const struct option hypercube_params[] = {
	COUNT(dimensions, "dimensions", "4", 1, 16,
	      "dimensions; 2 to their power is the number of switches"),
	HOST_ROWS("1"),
	END,
};

static const struct option ring_params[] = {
	COUNT(switches, "switches", "4", 1, 65535, "switches in the ring"),
	HOST_ROWS("1"),
	END,
};

static const struct option star_params[] = {
	COUNT(switches, "switches", "0", 0, 255,
	      "switches around the hub; 0 plugs the hosts into the hub"),
	HOST_ROWS("8"),
	END,
};

static const struct option back_to_back_params[] = {
	COUNT(cables, "cables", "1", 1, 255, "cables between the two"),
	END,
};

static const struct option tree_params[] = {
	COUNT(arity, "arity", "4", 1, 127, "ports down, and up, of a switch"),
	COUNT(levels, "levels", "2", 1, 5, "levels of switches"),
	END,
};

static const struct option fat_tree_params[] = {
	COUNT(radix, "radix", "36", 2, 255, "ports of every switch"),
	COUNT(levels, "levels", "2", 1, 5, "levels of switches"),
	{ .name = "taper",
	  .kind = OPT_RATIO,
	  .offset = FIELD(taper),
	  .value = "RATIO",
	  .initial = "1",
	  .help = "ports down for one port up at the leaves; 1 does not taper" },
	END,
};

static const struct option xgft_params[] = {
	TEXT(down, "down", "M1,M2..", "4,4", "children of a node, from the leaves (hosts) up"),
	TEXT(up, "up", "W1,W2..", "1,4", "parents of a node, from the hosts up"),
	TEXT(parallel, "parallel", "P1,P2..", NULL,
	     "cables between parent and child, from the hosts up (default: 1)"),
	END,
};

static const struct option rail_params[] = {
	COUNT(rails, "rails", "8", 1, 64, "ports of each host, and leaves of each unit"),
	COUNT(units, "units", "2", 1, 65535, "units of hosts that share their leaves"),
	HOSTS("8", "hosts of each unit"),
	COUNT(spines, "spines", "8", 0, 65535, "spine switches in all"),
	COUNT(planes, "planes", "1", 1, 64,
	      "parts that spines and rails are divided into, without a cable between them"),
	END,
};

static const struct option dragonfly_params[] = {
	COUNT(routers, "routers", "4", 1, 255, "switches in a group"),
	COUNT(globals, "globals", "2", 1, 254, "cables of a switch to other groups"),
	GROUP_ROWS,
	HOST_ROWS("2"),
	END,
};

static const struct option dragonfly_plus_params[] = {
	COUNT(leaves, "leaves", "4", 1, 254, "leaf switches in a group"),
	COUNT(spines, "spines", "4", 1, 254, "spine switches in a group"),
	COUNT(globals, "globals", "2", 1, 254, "cables of a spine to other groups"),
	GROUP_ROWS,
	HOSTS("4", "hosts on each leaf"),
	COUNT(host_ports, "host-ports", "1", 1, 255, "ports of each host, all cabled to its leaf"),
	COUNT(tcas, "tcas", "0", 0, 255, "how many of a leaf's hosts are target adapters"),
	END,
};

static const struct option irregular_params[] = {
	COUNT(switches, "switches", "16", 2, 65535, "switches"),
	COUNT(degree, "degree", "4", 1, 254, "neighbours of each switch"),
	HOST_ROWS("4"),
	END,
};

static const struct option two_switch_params[] = {
	COUNT(remote, "remote", "1", 0, 252,
	      "hosts A1.. that send to Bc through the cable between A and B"),
	COUNT(local, "local", "1", 0, 252, "hosts B1.. that send to Bc"),
	COUNT(victims, "victims", "1", 0, 126,
	      "pairs Av, Bv that share the cable but not the bottleneck"),
	END,
};

static const struct option blrm_params[] = { END };

static const struct option routed_params[] = {
	COUNT(subnets, "subnets", "2", 2, 65535,
	      "subnets, in a row, with a router between neighbours"),
	HOST_ROWS("4"),
	END,
};

const struct option generator_common[] = {
	TEXT(link, "link", "LINK", "4x HDR", "best width and speed that ports support"),
	TEXT(host_link, "host-link", "LINK", NULL,
	     "width and speed of ports of hosts and routers (default: --link)"),
	TEXT(trunk_link, "trunk-link", "LINK", NULL,
	     "width and speed of ports between switches (default: --link)"),
	COUNT(vls, "vls", "15", 1, 15, "data VLs that ports support: 1, 2, 4, 8 or 15"),
	COUNT(host_vls, "host-vls", "0", 0, 15, "data VLs of hosts and routers; 0 is as --vls"),
	{ .name = "mtu",
	  .kind = OPT_SIZE,
	  .offset = FIELD(mtu),
	  .value = "BYTES",
	  .initial = "4096B",
	  .help = "largest MTU that ports support: 256, 512, 1024, 2048 or 4096" },
	{ .name = "host-mtu",
	  .kind = OPT_SIZE,
	  .offset = FIELD(host_mtu),
	  .value = "BYTES",
	  .initial = "0",
	  .help = "largest MTU of hosts and routers; 0 is as --mtu" },
	END,
};

const struct generator topo_generators[] = {
	{ "mesh", FAMILY_MESH, "2-D mesh of switches",
	  "Switch s-X-Y is in column X from the west and row Y from the south. Ports: 1 east, 2 north, 3 west, 4 south, hosts from 5 on.",
	  mesh_params, "mesh --columns 4 --rows 4 --hosts 4", build_mesh },
	{ "node-mesh", FAMILY_NODE_MESH, "2-D mesh of nodes that are switch and host in one",
	  "Like mesh, but the host of a node is port 0 of its switch (an enhanced port 0).",
	  node_mesh_params, "node-mesh --columns 5 --rows 5", build_node_mesh },
	{ "torus", FAMILY_TORUS, "torus of any number of dimensions",
	  "Ports: 2i + 1 up and 2i + 2 down along dimension i (from 0), then hosts. Along a dimension of 2 there is one cable, from port 2i + 1 of the lower to 2i + 2 of the higher.",
	  torus_params, "torus --sizes 4x4x8 --hosts 2", build_torus },
	{ "hypercube", FAMILY_HYPERCUBE, "binary hypercube",
	  "Port i + 1 leads along dimension i (from 0), then hosts.", hypercube_params,
	  "hypercube --dimensions 4 --hosts 4", build_hypercube },
	{ "ring", FAMILY_RING, "ring of switches",
	  "Ports: 1 to the next, 2 to the one before, then hosts.", ring_params,
	  "ring --switches 8 --hosts 2", build_ring },
	{ "star", FAMILY_STAR, "hub with hosts, or with switches around it",
	  "Port i + 1 of the hub leads to host or switch i; port 1 of each switch leads to the hub, then hosts.",
	  star_params, "star --hosts 8", build_star },
	{ "back-to-back", FAMILY_BACK_TO_BACK, "two hosts and no switch",
	  "Port n of h0 is cabled to port n of h1.", back_to_back_params, "back-to-back",
	  build_back_to_back },
	{ "tree", FAMILY_XGFT, "k-ary n-tree",
	  "n levels of k to the power n - 1 switches and k to the power n hosts: XGFT(n; k..k; 1,k..k).",
	  tree_params, "tree --arity 4 --levels 3", build_tree },
	{ "fat-tree", FAMILY_XGFT, "fat tree that uses all ports of switches",
	  "With radix k and n levels the most hosts that such switches can serve: radix 36 and 3 levels give XGFT(3; 18,18,36; 1,18,18), 11664 hosts and 1620 switches.",
	  fat_tree_params, "fat-tree --radix 36 --levels 3", build_fat_tree },
	{ "xgft", FAMILY_XGFT, "extended generalised fat tree",
	  "XGFT(h; m1..mh; w1..wh): a node of level i has mi children and one of level i - 1 has wi parents; w1 > 1 gives hosts that many ports. Ports of a switch: children first, then parents.",
	  xgft_params, "xgft --down 4,4,8 --up 1,2,2", build_xgft },
	{ "rail", FAMILY_RAIL, "rail-optimised tree: port n of hosts to leaf n",
	  "Port n of every host of a unit leads to leaf n - 1 of the unit. "
	  "Ports of a leaf: hosts, then the spines of its plane; of a spine: "
	  "the leaves of its plane, unit by unit. Rail r is of plane r modulo "
	  "their number, and planes are subnets of their own.",
	  rail_params, "rail --rails 8 --units 2 --hosts 8 --spines 8", build_rail },
	{ "dragonfly", FAMILY_DRAGONFLY, "groups of fully meshed switches, fully meshed",
	  "Ports of a switch: 1 .. a - 1 to the others of its group, then global ones, then hosts.",
	  dragonfly_params, "dragonfly --routers 4 --globals 2 --hosts 2", build_dragonfly },
	{ "dragonfly-plus", FAMILY_DRAGONFLY_PLUS, "groups of leaves and spines, fully meshed",
	  "Ports of a leaf: spines, then hosts; of a spine: leaves, then global ones.",
	  dragonfly_plus_params, "dragonfly-plus --leaves 4 --spines 4 --globals 2 --hosts 4",
	  build_dragonfly_plus },
	{ "irregular", FAMILY_IRREGULAR, "random connected graph, all switches of one degree",
	  "Ports 1 .. degree lead to the neighbours in the order of their numbers, then hosts. --seed chooses the graph.",
	  irregular_params, "irregular --switches 16 --degree 4 --hosts 4", build_irregular },
	{ "two-switch", FAMILY_TWO_SWITCH, "two switches with remote, local and victim flows",
	  "Port 1 of A and B is the cable between them; hosts follow: A1.., Av on A; B1.., Bc, Bv on B.",
	  two_switch_params, "two-switch --remote 5 --local 5", build_two_switch },
	{ "blrm", FAMILY_TWO_SWITCH, "two switches with two nodes each (reservation example)",
	  "Port 1 of S1 and S2 is the cable between them; N1 and N2 are on ports 2 and 3 of S1, N3 and N4 on those of S2.",
	  blrm_params, "blrm --link '1x SDR'", build_blrm },
	{ "routed", FAMILY_ROUTED, "subnets in a row, joined by routers",
	  "Each subnet is one switch: port 1 to the router before it, 2 to the one after it, then hosts.",
	  routed_params, "routed --subnets 2 --hosts 4", build_routed },
	{ .name = NULL },
};

void generator_words(struct strbuf *out)
{
	for (const struct generator *g = topo_generators; g->name; g++)
		strbuf_printf(out, "%s ", g->name);
}

const char *generator_nearest(const char *name)
{
	const char *names[64];
	size_t n = 0;

	for (; topo_generators[n].name; n++)
		names[n] = topo_generators[n].name;
	return text_nearest(name, names, n);
}

const struct generator *generator_find(const char *name, struct diag *d)
{
	size_t n = 0;

	for (; topo_generators[n].name; n++) {
		if (strcmp(topo_generators[n].name, name) == 0)
			return &topo_generators[n];
	}
	diag_fail(d, HD_ERR_NOT_FOUND, "unknown kind of topology '%s'%s", name,
		  text_hint(generator_nearest(name)).text);
	return NULL;
}

/* Supported widths and speeds of ports, as sets. */
struct abilities {
	uint8_t widths;
	uint16_t speeds;
	uint8_t vls;
	uint16_t mtu;
};

/*
 * Parses "4x HDR" or "4xHDR": enables this width and speed and all lower ones. Wider ports also
 * support 4x and 1x, like real switches.
 */
static enum hd_status read_link(const char *text, struct diag *d, struct abilities *out)
{
	static const uint8_t widths[] = {
		[1] = WIDTH_1X,
		[2] = WIDTH_1X | WIDTH_2X,
		[4] = WIDTH_1X | WIDTH_4X,
		[8] = WIDTH_1X | WIDTH_4X | WIDTH_8X,
		[12] = WIDTH_1X | WIDTH_4X | WIDTH_12X,
	};
	unsigned lanes = 0;
	enum link_speed speed;
	size_t digits = strspn(text, "0123456789");

	if (digits == 1 || digits == 2)
		lanes = (unsigned)strtoul(text, NULL, 10);
	const char *rest = text + digits;

	rest += *rest == 'x' || *rest == 'X';
	rest += strspn(rest, " ");
	if (lanes > 12 || !widths[lanes] || link_speed_parse(rest, &speed) != HD_OK)
		return diag_fail(
			d, HD_ERR_INPUT,
			"link '%s': expected a width of 1x, 2x, 4x, 8x or 12x and a speed, as in '4x HDR'",
			text);
	out->widths = widths[lanes];
	out->speeds = (uint16_t)((2u << speed) - 1);
	return HD_OK;
}

static enum hd_status read_vls_mtu(uint64_t vls, uint64_t mtu, struct diag *d,
				   struct abilities *out)
{
	if (!are_vls(vls))
		return diag_fail(d, HD_ERR_RANGE, "%llu data VLs: there can be 1, 2, 4, 8 or 15",
				 (unsigned long long)vls);
	if (!is_mtu(mtu))
		return diag_fail(d, HD_ERR_RANGE,
				 "an MTU of %llu bytes: there are 256, 512, 1024, 2048 and 4096",
				 (unsigned long long)mtu);
	out->vls = (uint8_t)vls;
	out->mtu = (uint16_t)mtu;
	return HD_OK;
}

/* By what a port is for. */
enum { OF_SWITCH, OF_TRUNK, OF_HOST, N_PURPOSES };

static enum hd_status read_abilities(const struct topo_params *p, struct diag *d,
				     struct abilities *out)
{
	const char *links[N_PURPOSES] = { p->link, p->trunk_link ? p->trunk_link : p->link,
					  p->host_link ? p->host_link : p->link };

	for (unsigned i = 0; i < N_PURPOSES; i++) {
		bool host = i == OF_HOST;
		uint64_t vls = host && p->host_vls ? p->host_vls : p->vls;
		uint64_t mtu = host && p->host_mtu ? p->host_mtu : p->mtu;

		if (read_link(links[i], d, &out[i]) != HD_OK ||
		    read_vls_mtu(vls, mtu, d, &out[i]) != HD_OK)
			return d->status;
	}
	return HD_OK;
}

static unsigned purpose(const struct topo *t, const struct topo_port *p)
{
	if (!topo_is_switch(t, p->node))
		return OF_HOST;
	if (p->peer == TOPO_NONE || !topo_is_switch(t, t->ports[p->peer].node))
		return OF_SWITCH;
	return OF_TRUNK;
}

static void set_abilities(struct topo *t, const struct abilities *abilities)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		struct topo_port *p = &t->ports[i];
		const struct abilities *a = &abilities[purpose(t, p)];

		p->widths = a->widths;
		p->speeds = a->speeds;
		p->vls = a->vls;
		p->mtu = a->mtu;
	}
}

/*
 * Locally administered GUIDs: 0x02, the kind, the number within the kind, and the port in the last
 * byte, as in ibsim.
 */
static void set_guids(struct topo *t)
{
	static const uint64_t base[] = {
		[NODE_CA] = UINT64_C(0x0210000000000000),
		[NODE_SWITCH] = UINT64_C(0x0220000000000000),
		[NODE_ROUTER] = UINT64_C(0x0230000000000000),
	};
	uint64_t count[] = { 0, 0, 0 };

	for (node_id i = 0; i < t->n_nodes; i++) {
		struct topo_node *v = &t->nodes[i];

		v->guid = base[v->kind] + (count[v->kind]++ << 8);
		v->system_guid = v->guid;
		if (v->kind == NODE_SWITCH)
			t->ports[v->first_port].guid = v->guid;
		for (unsigned n = 1; n <= v->n_ports; n++) {
			if (v->kind != NODE_SWITCH)
				t->ports[v->first_port + n].guid = v->guid + n;
		}
	}
}

void topo_params_init(const struct generator *g, struct topo_params *p)
{
	const struct option *tables[] = { g->params, generator_common, NULL };
	struct diag d = { .status = HD_OK };
	int n_args;

	*p = (struct topo_params){ .seed = 1 };
	enum hd_status status = options_parse(tables, p, 0, NULL, &d, &n_args);

	assert(status == HD_OK);
	(void)status;
}

/* Options are in range already; a caller that fills the struct may not be. */
static enum hd_status check_ranges(const struct option *rows, const struct topo_params *p,
				   struct diag *d)
{
	for (; rows->name; rows++) {
		const void *field = (const char *)p + rows->offset;
		uint64_t value;

		if (rows->kind == OPT_TEXT && rows->initial && !*(const char *const *)field)
			return diag_fail(d, HD_ERR_INPUT, "%s is missing", rows->name);
		if (rows->kind != OPT_UINT)
			continue;
		memcpy(&value, field, sizeof(value));
		if (value < rows->low || value > rows->high)
			return diag_fail(d, HD_ERR_RANGE, "%s: %llu is not in %llu..%llu",
					 rows->name, (unsigned long long)value,
					 (unsigned long long)rows->low,
					 (unsigned long long)rows->high);
	}
	return HD_OK;
}

/* Writes the value of an option as a word; nothing if it is the default. */
static void put_value(const struct option *row, const struct topo_params *p, struct strbuf *out)
{
	const void *field = (const char *)p + row->offset;
	struct strbuf value = STRBUF_INIT;

	if (row->kind == OPT_UINT || row->kind == OPT_SIZE) {
		uint64_t number;

		memcpy(&number, field, sizeof(number));
		strbuf_printf(&value, "%llu", (unsigned long long)number);
	} else if (row->kind == OPT_RATIO) {
		struct hd_ratio ratio;

		memcpy(&ratio, field, sizeof(ratio));
		hd_ratio_print(ratio, &value);
	} else if (row->kind == OPT_CHOICE) {
		strbuf_puts(&value, row->choices[*(const unsigned *)field]);
	} else if (*(const char *const *)field) {
		/* "4x HDR" is "4xHDR" too, and stays one word. */
		for (const char *c = *(const char *const *)field; *c; c++) {
			if (*c != ' ')
				strbuf_putc(&value, *c);
		}
	}
	if (value.len)
		strbuf_printf(out, " --%s=%s", row->name, value.text);
	strbuf_fini(&value);
}

static bool is_default(const struct option *row, const struct topo_params *p,
		       const struct topo_params *defaults)
{
	static const size_t sizes[] = {
		[OPT_UINT] = sizeof(uint64_t),
		[OPT_SIZE] = sizeof(uint64_t),
		[OPT_RATIO] = sizeof(struct hd_ratio),
		[OPT_CHOICE] = sizeof(unsigned),
	};
	const char *a = (const char *)p + row->offset;
	const char *b = (const char *)defaults + row->offset;

	if (row->kind != OPT_TEXT)
		return memcmp(a, b, sizes[row->kind]) == 0;
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return x == y || (x && y && strcmp(x, y) == 0);
}

/* "mesh --columns=5": the options that differ from their defaults. */
static char *make_recipe(const struct generator *g, const struct topo_params *p)
{
	const struct option *tables[] = { g->params, generator_common };
	struct strbuf out = STRBUF_INIT;
	struct topo_params defaults;

	topo_params_init(g, &defaults);
	strbuf_puts(&out, g->name);
	for (unsigned i = 0; i < 2; i++) {
		for (const struct option *row = tables[i]; row->name; row++) {
			if (!is_default(row, p, &defaults))
				put_value(row, p, &out);
		}
	}
	if (g->family == FAMILY_IRREGULAR && p->seed != defaults.seed)
		strbuf_printf(&out, " --seed=%llu", (unsigned long long)p->seed);
	return strbuf_detach(&out);
}

enum hd_status topo_generate(const struct generator *g, const struct topo_params *p, struct diag *d,
			     struct topo *out)
{
	struct abilities abilities[N_PURPOSES] = { { 0 } };
	struct topo t;

	if (check_ranges(g->params, p, d) != HD_OK || check_ranges(generator_common, p, d) != HD_OK)
		return d->status;
	if (p->tcas > p->hosts)
		return diag_fail(d, HD_ERR_RANGE, "%llu target adapters among %llu hosts",
				 (unsigned long long)p->tcas, (unsigned long long)p->hosts);
	if (read_abilities(p, d, abilities) != HD_OK)
		return d->status;
	topo_init(&t);
	t.family = g->family;
	enum hd_status status = g->build(p, d, &t);

	if (status != HD_OK) {
		topo_fini(&t);
		return status;
	}
	set_abilities(&t, abilities);
	set_guids(&t);
	topo_number_subnets(&t);
	t.recipe = make_recipe(g, p);
	*out = t;
	return HD_OK;
}

static enum hd_status generate_words(const struct generator *g, int argc, char **argv,
				     struct topo_params *p, struct diag *d, struct topo *out)
{
	static const struct option seed_row[] = {
		{ .name = "seed",
		  .kind = OPT_UINT,
		  .offset = FIELD(seed),
		  .value = "N",
		  .help = "seed of all that is random" },
		END,
	};
	const struct option *tables[] = { g->params, generator_common, seed_row, NULL };
	int n_args;

	if (options_parse(tables, p, argc, argv, d, &n_args) != HD_OK)
		return d->status;
	if (n_args > 0)
		return diag_fail(d, HD_ERR_INPUT, "unexpected '%s' after %s", argv[0], g->name);
	return topo_generate(g, p, d, out);
}

enum hd_status topo_generate_words(const struct generator *g, int argc, char **argv, uint64_t seed,
				   struct diag *d, struct topo *out)
{
	struct topo_params p = { .seed = seed };

	return generate_words(g, argc, argv, &p, d, out);
}

enum hd_status topo_generate_text(const char *text, uint64_t seed, uint64_t max_nodes,
				  struct diag *d, struct topo *out)
{
	enum { MAX_WORDS = 64 };
	struct topo_params p = { .seed = seed, .max_nodes = max_nodes };
	char *copy = hd_strdup(text), *argv[MAX_WORDS], *save = NULL;
	int argc = 0;
	const char *name = strtok_r(copy, " ", &save);
	const struct generator *g = generator_find(name ? name : "", d);

	while (g && argc < MAX_WORDS && (argv[argc] = strtok_r(NULL, " ", &save)))
		argc++;
	if (g && argc == MAX_WORDS)
		diag_fail(d, HD_ERR_INPUT, "too many words");
	else if (g)
		(void)!generate_words(g, argc, argv, &p, d, out);
	free(copy);
	return d->status;
}
