/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "hca/profile_texts.h"
#include "scenario/schema.h"

#define MAX_TEXT ((size_t)1 << 20)

static const char *const schedules[] = { "round-robin", "weighted", NULL };
static const char *const duplexes[] = { "half", "full", NULL };
static const char *const mtus[] = { "256", "512", "1024", "2048", "4096", NULL };

#define AT(member) offsetof(struct hca_profile, member)

static const struct schema_row rows[] = {
	{ "name", SCHEMA_TEXT, AT(name), .help = "the profile's name" },
	{ "about", SCHEMA_TEXT, AT(about), .initial = "", .help = "what it models" },
	{ "schedule", SCHEMA_CHOICE, AT(schedule), .initial = "round-robin", .choices = schedules,
	  .help = "how the adapter picks queue pairs: in turn, or by weights and priorities" },
	{ "out_of_order", SCHEMA_UINT, AT(out_of_order), .initial = "0", .high = "65536",
	  .help = "packets ahead of the expected one, at most, that a reliable queue pair keeps, instead of asking for them again" },
	{ "fabric", SCHEMA_MAP, 0, .help = "the fabric, unless another is given" },
	{ "fabric.hosts", SCHEMA_UINT, AT(hosts), .initial = "8", .low = "2", .high = "1000",
	  .help = "hosts on the switch" },
	{ "fabric.link", SCHEMA_TEXT, AT(link), .initial = "4x SDR",
	  .help = "width and speed of all links" },
	{ "fabric.vls", SCHEMA_UINT, AT(vls), .initial = "8", .low = "1", .high = "15",
	  .help = "data VLs" },
	{ "fabric.mtu", SCHEMA_UINT, AT(mtu), .initial = "2048", .choices = mtus,
	  .help = "path MTU, unless a test says otherwise" },
	{ "fabric.switch_delay", SCHEMA_TIME, AT(switch_delay), .initial = "200ns",
	  .help = "of a packet's head in the switch" },
	{ "fabric.propagation", SCHEMA_TIME, AT(propagation), .low = "1ps", .initial = "10ns",
	  .help = "of a cable" },
	{ "host", SCHEMA_MAP, 0, .help = "processor time" },
	{ "host.post_send", SCHEMA_TIME, AT(post_send), .help = "posting" },
	{ "host.post_recv", SCHEMA_TIME, AT(post_recv), .help = "posting a receive request" },
	{ "host.poll", SCHEMA_TIME, AT(poll), .help = "taking a completion" },
	{ "host.poll_empty", SCHEMA_TIME, AT(poll_empty), .help = "finding none" },
	{ "host.event", SCHEMA_TIME, AT(event), .help = "interrupt, handler and waking who waits" },
	{ "host.command", SCHEMA_TIME, AT(command), .help = "a request to the adapter's firmware" },
	{ "host.teardown", SCHEMA_TIME, AT(teardown),
	  .help = "destroying a queue pair that was connected" },
	{ "host.page", SCHEMA_TIME, AT(page), .help = "pinning and entering a page" },
	{ "adapter", SCHEMA_MAP, 0, .help = "its pipeline" },
	{ "adapter.doorbell", SCHEMA_TIME, AT(doorbell),
	  .help = "until the adapter knows of a request" },
	{ "adapter.wqe", SCHEMA_TIME, AT(wqe),
	  .help = "engine time of a request on a connected queue pair" },
	{ "adapter.wqe_datagram", SCHEMA_TIME, AT(wqe_datagram),
	  .help = "the same on an unconnected one" },
	{ "adapter.packet", SCHEMA_TIME, AT(packet),
	  .help = "engine time of a packet, sent or received" },
	{ "adapter.staging", SCHEMA_SIZE, AT(staging), .low = "256B",
	  .help = "payload fetched ahead of the link, per VL" },
	{ "adapter.inline", SCHEMA_SIZE, AT(inline_bytes), .initial = "0B", .high = "4KiB",
	  .help = "payload that the processor writes to the adapter with the request, instead of a read over the bus; 0B: none" },
	{ "adapter.queue_pair", SCHEMA_TIME, AT(queue_pair), .initial = "0ns",
	  .help = "least time between two requests of one queue pair" },
	{ "bus", SCHEMA_MAP, 0, .help = "between host memory and adapter" },
	{ "bus.rate", SCHEMA_RATE, AT(bus), .word = "unlimited", .word_value = 0,
	  .help = "of data" },
	{ "bus.overhead", SCHEMA_TIME, AT(bus_overhead), .help = "of a transaction" },
	{ "bus.latency", SCHEMA_TIME, AT(bus_latency), .help = "until data that are read arrive" },
	{ "bus.duplex", SCHEMA_CHOICE, AT(duplex), .choices = duplexes,
	  .help = "half: both ways share it" },
	{ "translation", SCHEMA_MAP, 0, .help = "cache of page addresses" },
	{ "translation.page", SCHEMA_SIZE, AT(page_size), .low = "256B", .help = "size of a page" },
	{ "translation.entries", SCHEMA_UINT, AT(entries), .help = "pages that fit; 0: all" },
	{ "translation.miss", SCHEMA_TIME, AT(miss),
	  .help = "that the bus waits for a missing one" },
	{ NULL, SCHEMA_MAP, 0, .help = NULL },
};

enum hd_status profile_parse(const char *text, size_t len, struct diag *d, struct hca_profile *out)
{
	struct schema_places places = { 0 };
	struct document doc;
	enum hd_status status = document_load(text, len, "the profile", d, &doc);

	*out = (struct hca_profile){ 0 };
	if (status != HD_OK)
		return status;
	status = schema_read(rows, &doc, NULL, d, out, &places);
	if (status == HD_OK && (out->page_size & (out->page_size - 1)))
		status = diag_fail(d, HD_ERR_INPUT,
				   "translation.page: expected a power of 2, not %llu",
				   (unsigned long long)out->page_size);
	if (status != HD_OK)
		profile_fini(out);
	free(places.items);
	document_fini(&doc);
	return status;
}

void profile_fini(struct hca_profile *p)
{
	schema_release(rows, p);
}

void profile_print(const struct hca_profile *p, struct strbuf *out)
{
	schema_print(rows, p, true, out);
}

static bool is_file(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".yaml") == 0);
}

/* Index of the built-in profile of this name, or of the NULL entry. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (profile_names[i] && strcmp(name, profile_names[i]) != 0)
		i++;
	return i;
}

static enum hd_status refuse(const char *name, struct diag *d)
{
	size_t n = 0;

	while (profile_names[n])
		n++;
	const char *nearest = text_nearest(name, profile_names, n);

	return diag_fail(
		d, HD_ERR_NOT_FOUND,
		"unknown profile '%s'%s; expected mt23108, connectx-4-like, connectx-6-like, connectx-7-like, ideal or a file ending in .yaml",
		name, text_hint(nearest).text);
}

enum hd_status profile_check(const char *name, struct diag *d)
{
	return is_file(name) || profile_names[find(name)] ? HD_OK : refuse(name, d);
}

enum hd_status profile_open(const char *name, struct diag *d, struct hca_profile *out)
{
	if (is_file(name)) {
		struct strbuf text = STRBUF_INIT;
		enum hd_status status = file_read(name, MAX_TEXT, d, &text);

		if (status == HD_OK)
			status = profile_parse(text.text, text.len, d, out);
		strbuf_fini(&text);
		return status;
	}
	size_t i = find(name);

	return profile_names[i] ? profile_parse((const char *)profile_texts[i].bytes,
						profile_texts[i].len, d, out)
				: refuse(name, d);
}
