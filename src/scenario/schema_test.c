/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small format with one field of each kind. */
struct pet {
	char *name;
	uint64_t legs;
};

struct sign {
	const char *text;
	uint64_t two_sided;
	hd_time shown;
};

struct zoo {
	struct schema_params sign;
	char *title;
	enum { OPEN_AIR, INDOOR, AQUARIUM } kind;
	uint64_t area; /* not of an aquarium */
	hd_time visit;
	struct hd_rate water;
	struct hd_ratio share;
	double heat;
	bool guarded;
	struct schema_amount food;
	uint64_t gates;
	uint64_t pair[2];
	struct pet *pets;
	size_t n_pets;
};

static enum hd_status pair_parse(const char *text, struct diag *d, void *out)
{
	char *end;
	unsigned long long first = strtoull(text, &end, 10);

	if (*end != ',')
		return diag_fail(d, HD_ERR_INPUT, "'%s' is not a pair", text);
	((uint64_t *)out)[0] = first;
	((uint64_t *)out)[1] = strtoull(end + 1, NULL, 10);
	return HD_OK;
}

static void pair_print(const void *value, struct strbuf *out)
{
	const uint64_t *pair = value;

	strbuf_printf(out, "%llu,%llu", (unsigned long long)pair[0], (unsigned long long)pair[1]);
}

static const struct schema_custom pair_type = {
	.what = "a pair (e.g. 1,2)",
	.size = 2 * sizeof(uint64_t),
	.parse = pair_parse,
	.print = pair_print,
};

static const char *const kinds[] = { "open-air", "indoor", "aquarium", NULL };
static const char *const buckets[] = { "buckets", "buckets per day", NULL };
static const char *const gate_counts[] = { "1", "2", "4", NULL };

static const struct option sign_options[] = {
	{ .name = "text", .kind = OPT_TEXT, .help = "what it says" },
	{ .name = "two-sided",
	  .kind = OPT_UINT,
	  .initial = "1",
	  .low = 0,
	  .high = 1,
	  .offset = offsetof(struct sign, two_sided),
	  .help = "whether" },
	{ .name = "shown",
	  .kind = OPT_TIME,
	  .initial = "2s",
	  .offset = offsetof(struct sign, shown),
	  .help = "how long" },
	{ .name = NULL },
};

/* An aquarium has no sign. */
static void sign_params(const void *base, const struct option *tables[SCHEMA_MAX_TABLES + 1])
{
	const struct zoo *zoo = base;

	tables[0] = zoo->kind == AQUARIUM ? NULL : sign_options;
}

#define AT(member) offsetof(struct zoo, member)

static const struct schema_row table[] = {
	{ "title", SCHEMA_TEXT, AT(title), .optional = true, .help = "title" },
	{ "house", SCHEMA_MAP, .shorthand = "kind", .help = "what it is" },
	{ "house.kind", SCHEMA_CHOICE, AT(kind), .choices = kinds, .help = "kind of house" },
	{ "house.area", SCHEMA_UINT, AT(area), .initial = "10", .low = "1", .when = "house.kind",
	  .only = 1 << OPEN_AIR | 1 << INDOOR, .help = "area" },
	{ "house.gates", SCHEMA_UINT, AT(gates), .initial = "1", .choices = gate_counts,
	  .help = "gates" },
	{ "sign", SCHEMA_MAP, AT(sign), .params = sign_params, .help = "sign" },
	{ "visit", SCHEMA_TIME, AT(visit), .initial = "never", .word = "never",
	  .word_value = UINT64_MAX, .low = "1ns", .high = "1s", .help = "length of a visit" },
	{ "water", SCHEMA_RATE, AT(water), .initial = "4x SDR", .help = "water" },
	{ "share", SCHEMA_SHARE, AT(share), .initial = "20%", .high = "100%", .help = "share" },
	{ "heat", SCHEMA_REAL, AT(heat), .initial = "0.5", .low = "0", .help = "heat" },
	{ "guarded", SCHEMA_BOOL, AT(guarded), .initial = "yes", .help = "whether it is guarded" },
	{ "food", SCHEMA_AMOUNT, AT(food), .initial = "4 buckets", .choices = buckets,
	  .base = SCHEMA_SIZE, .low = "1", .help = "food" },
	{ "pair", SCHEMA_CUSTOM, AT(pair), .initial = "1,2", .custom = &pair_type, .joins = true,
	  .help = "a pair" },
	{ "pets", SCHEMA_LIST, AT(pets), .count = AT(n_pets), .item_size = sizeof(struct pet),
	  .at_least = 1, .help = "pets" },
	{ "pets[].name", SCHEMA_TEXT, offsetof(struct pet, name), .help = "name" },
	{ "pets[].legs", SCHEMA_UINT, offsetof(struct pet, legs), .initial = "4", .high = "8",
	  .help = "legs" },
	{ .path = NULL },
};

static enum hd_status read_zoo(const char *text, struct diag *d, struct zoo *zoo,
			       struct schema_places *places)
{
	struct document doc;
	enum hd_status status = document_load(text, strlen(text), "the zoo", d, &doc);

	memset(zoo, 0, sizeof(*zoo));
	*places = (struct schema_places){ 0 };
	if (status != HD_OK)
		return status;
	status = schema_read(table, &doc, NULL, d, zoo, places);
	document_fini(&doc);
	return status;
}

static void zoo_free(struct zoo *zoo, struct schema_places *places)
{
	schema_release(table, zoo);
	free(places->items);
}

static const struct {
	const char *text;
	unsigned line, column;
	const char *message;
} refusals[] = {
	{ "pets: [{name: a}]\nhous: indoor\n", 2, 1,
	  "unknown field 'hous' in the zoo (did you mean 'house'?)" },
	{ "house: {kind: indoor, colour: red}\n", 1, 23,
	  "unknown field 'colour' in house (known: kind, area, gates)" },
	{ "house: indoor\npets: [{nam: a}]\n", 2, 9,
	  "unknown field 'nam' in pets[] (did you mean 'name'?)" },
	{ "house: {kind: indoor, kind: aquarium}\n", 1, 23, "field 'house.kind' is there twice" },
	{ "house: barn\npets: [{name: a}]\n", 1, 8,
	  "house.kind: 'barn' is not one of open-air, indoor, aquarium" },
	{ "house: indor\npets: [{name: a}]\n", 1, 8,
	  "house.kind: 'indor' is not one of open-air, indoor, aquarium (did you mean 'indoor'?)" },
	{ "house: {kind: aquarium, area: 3}\npets: [{name: a}]\n", 1, 31,
	  "'area' has no meaning when house.kind is aquarium" },
	{ "house: {area: 3}\npets: [{name: a}]\n", 1, 8, "missing field 'house.kind'" },
	{ "pets: [{name: a}]\n", 1, 1, "missing field 'house.kind'" },
	{ "house: indoor\n", 1, 1, "missing field 'pets'" },
	{ "house: indoor\npets: []\n", 2, 7, "pets: expected at least one item" },
	{ "house: indoor\npets: {}\n", 2, 7, "pets: expected a list, not a mapping" },
	{ "house: indoor\npets: [{legs: 3}]\n", 2, 8, "missing field 'pets[].name'" },
	{ "house: indoor\npets: [5]\n", 2, 8, "pets[]: expected a mapping, not a value" },
	{ "[]", 1, 1, "the zoo: expected a mapping, not a list" },
	{ "just words", 1, 1, "the zoo: expected a mapping, not a value" },
	{ "house: [indoor]\n", 1, 8, "house: expected a mapping, not a list" },
	{ "{[1]: 2}\n", 1, 2, "expected the name of a field, not a list" },
	{ "house: {kind: indoor, area: 0}\n", 1, 29,
	  "house.area: '0' is out of range (at least 1)" },
	{ "house: {kind: indoor, gates: 3}\n", 1, 30, "house.gates: '3' is not one of 1, 2, 4" },
	{ "house: indoor\nvisit: 5\n", 2, 8,
	  "visit: '5' is not a time (expected e.g. 20ns, 1.5us, 3ms, 2s)" },
	{ "house: indoor\nvisit: 2s\n", 2, 8, "visit: '2s' is out of range (1ns to 1s)" },
	{ "house: indoor\nvisit: 1ps\n", 2, 8, "visit: '1ps' is out of range (1ns to 1s)" },
	{ "house: indoor\nshare: 101%\n", 2, 8, "share: '101%' is out of range (at most 100%)" },
	{ "house: indoor\nshare: 15\n", 2, 8,
	  "share: '15' is out of range (at most 100%; did you mean '15%'?)" },
	{ "house: indoor\nheat: -1\n", 2, 7, "heat: '-1' is out of range (at least 0)" },
	{ "house: indoor\nwater: 5 Gb\n", 2, 8,
	  "water: '5 Gb' is not a rate (expected e.g. 2.5Gb/s, 300MB/s, 4x HDR)" },
	{ "house: indoor\nguarded: maybe\n", 2, 10, "guarded: 'maybe' is neither true nor false" },
	{ "house: indoor\nfood: 4 spoons\n", 2, 7,
	  "food: '4 spoons' is not a size (e.g. 256, 4KiB) or '4 buckets' or '4 buckets per day'" },
	{ "house: indoor\nfood: 4 bucket per\n", 2, 7,
	  "food: '4 bucket per' is not a size (e.g. 256, 4KiB) or '4 buckets' or '4 buckets per day'" },
	{ "house: indoor\nfood: 0 buckets\n", 2, 7,
	  "food: '0 buckets' is out of range (at least 1)" },
	{ "house: indoor\nheat: [1, 2]\n", 2, 7, "heat: expected a number, not a list" },
	{ "house: indoor\nheat:\npets: [{name: a}]\n", 2, 6, "heat: no value" },
	{ "house: indoor\npair: [1, [2]]\n", 2, 11, "pair: expected a value here, not a list" },
	{ "house: indoor\nsign: {txt: x}\n", 2, 8,
	  "unknown field 'txt' in sign (did you mean 'text'?)" },
	{ "house: indoor\nsign: {two-sided: 1}\n", 2, 8,
	  "unknown field 'two-sided' in sign (did you mean 'two_sided'?)" },
	{ "house: indoor\nsign: {two_sided: 2}\n", 2, 19, "sign.two_sided: '2' is not in 0..1" },
	{ "house: indoor\nsign: {shown: 1s, shown: 2s}\n", 2, 26,
	  "field 'sign.shown' is there twice" },
	{ "house: indoor\nsign: {text: {}}\n", 2, 14, "sign.text: expected text, not a mapping" },
	{ "house: aquarium\nsign: {text: x}\n", 2, 8, "unknown field 'text' in sign" },
	{ "house: indoor\npair: 3\n", 2, 7, "pair: '3' is not a pair" },
};

static void refuses_with_place_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct zoo zoo;
		struct schema_places places;

		assert_int_not_equal(read_zoo(refusals[i].text, &d, &zoo, &places), HD_OK);
		if (strcmp(d.message, refusals[i].message) != 0 || d.line != refusals[i].line ||
		    d.column != refusals[i].column)
			fail_msg("%s gives %u:%u: %s", refusals[i].text, d.line, d.column,
				 d.message);
		zoo_free(&zoo, &places);
	}
}

static void fills_in_every_default(void **state)
{
	struct diag d = { .status = HD_OK };
	struct zoo zoo;
	struct schema_places places;

	(void)state;
	assert_int_equal(read_zoo("house: indoor\npets: [{name: a}]\n", &d, &zoo, &places), HD_OK);
	assert_null(zoo.title);
	assert_int_equal(zoo.kind, INDOOR);
	assert_int_equal(zoo.area, 10);
	assert_true(zoo.visit == UINT64_MAX);
	assert_true(zoo.water.num == UINT64_C(8000000000));
	assert_true(zoo.share.num == 1 && zoo.share.den == 5);
	assert_true(zoo.heat == 0.5);
	assert_true(zoo.guarded);
	assert_true(zoo.food.value == 4 && zoo.food.unit == 1);
	assert_true(zoo.pair[0] == 1 && zoo.pair[1] == 2);
	assert_int_equal(zoo.gates, 1);
	assert_int_equal(zoo.n_pets, 1);
	if (!zoo.pets)
		return; /* for the analyser; asserted above */
	assert_string_equal(zoo.pets[0].name, "a");
	assert_int_equal(zoo.pets[0].legs, 4);
	zoo_free(&zoo, &places);
}

static const char full[] = "title: \"a: b # c \\\"\\x01\\\"\"\n"
			   "house:\n"
			   "  kind: aquarium\n"
			   "  gates: 2\n"
			   "sign: {}\n"
			   "visit: 1.5us\n"
			   "water: 4x FDR\n"
			   "share: 12.5%\n"
			   "heat: 0.1\n"
			   "guarded: false\n"
			   "food: 1 bucket per day\n"
			   "pair: 7,8\n"
			   "pets:\n"
			   "  - name: \"- x\"\n"
			   "    legs: 0\n"
			   "  - name: y\n"
			   "    legs: 8\n";

static void prints_what_reads_back_the_same(void **state)
{
	struct diag d = { .status = HD_OK };
	struct zoo zoo;
	struct schema_places places;
	struct strbuf plain = STRBUF_INIT, noted = STRBUF_INIT, again = STRBUF_INIT;

	(void)state;
	assert_int_equal(read_zoo(full, &d, &zoo, &places), HD_OK);
	schema_print(table, &zoo, false, &plain);
	assert_string_equal(plain.text, full);
	schema_print(table, &zoo, true, &noted);
	zoo_free(&zoo, &places);

	assert_non_null(strstr(noted.text, "  kind: aquarium"));
	assert_non_null(strstr(noted.text, "# kind of house\n"));
	assert_int_equal(read_zoo(noted.text, &d, &zoo, &places), HD_OK);
	schema_print(table, &zoo, false, &again);
	assert_string_equal(again.text, full);
	zoo_free(&zoo, &places);
	strbuf_fini(&plain);
	strbuf_fini(&noted);
	strbuf_fini(&again);
}

static void knows_where_a_field_was_written(void **state)
{
	struct diag d = { .status = HD_OK };
	struct zoo zoo;
	struct schema_places places;

	(void)state;
	assert_int_equal(read_zoo("house: indoor\npets:\n- {legs: 2, name: a}\n"
				  "- {name: b}\n",
				  &d, &zoo, &places),
			 HD_OK);
	const struct schema_place *at = schema_place_of(&places, &zoo.pets[0].legs);

	assert_int_equal(at->line, 3);
	assert_int_equal(at->column, 10);
	/* Not in the file: the position of the item that contains it. */
	at = schema_place_of(&places, &zoo.pets[1].legs);
	assert_int_equal(at->line, 4);
	assert_int_equal(at->column, 3);
	assert_null(schema_place_of(&places, &zoo.visit));
	zoo_free(&zoo, &places);
}

static void reads_a_list_of_values_as_one(void **state)
{
	struct diag d = { .status = HD_OK };
	struct zoo zoo;
	struct schema_places places;

	(void)state;
	assert_int_equal(read_zoo("house: indoor\npair: [3, 4]\n"
				  "pets: [{name: a}]\n",
				  &d, &zoo, &places),
			 HD_OK);
	assert_true(zoo.pair[0] == 3 && zoo.pair[1] == 4);
	zoo_free(&zoo, &places);
}

static void reads_fields_that_an_option_table_describes(void **state)
{
	struct diag d = { .status = HD_OK };
	struct zoo zoo;
	struct schema_places places;
	struct sign sign = { NULL, 7, 0 };
	const struct option *const tables[] = { sign_options, NULL };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(read_zoo("house: indoor\n"
				  "sign: {two_sided: 0, text: 'no: dogs'}\n"
				  "pets: [{name: a}]\n",
				  &d, &zoo, &places),
			 HD_OK);
	assert_int_equal(schema_params_apply(&zoo.sign, tables, &sign, &d), HD_OK);
	assert_string_equal(sign.text, "no: dogs");
	assert_int_equal(sign.two_sided, 0);
	assert_true(sign.shown == 2 * HD_S);
	schema_print(table, &zoo, false, &out);
	assert_non_null(strstr(out.text, "sign:\n  text: \"no: dogs\"\n"
					 "  two_sided: 0\n  shown: 2s\n"));
	strbuf_fini(&out);
	zoo_free(&zoo, &places);
}

static void the_manual_names_every_field(void **state)
{
	struct strbuf man = STRBUF_INIT;
	size_t n = 0;

	(void)state;
	schema_man(table, &man);
	for (const char *c = man.text; (c = strstr(c, ".TP\n")); c++)
		n++;
	assert_int_equal(n, sizeof(table) / sizeof(table[0]) - 1);
	assert_non_null(strstr(
		man.text,
		"Length of a visit. Expects a time (e.g. 20ns) or 'never', 1ns to 1s; default: never."));
	strbuf_fini(&man);
}

static void table_continues_at_its_end(void **state)
{
	static const struct schema_row last[] = { { "b.y", SCHEMA_UINT }, { .path = NULL } };
	static const struct schema_row empty[] = { { .rest = last } };
	static const struct schema_row first[] = { { "b", SCHEMA_MAP },
						   { "b.x", SCHEMA_UINT },
						   { .rest = empty } };

	(void)state;
	assert_ptr_equal(schema_after(first, NULL), first);
	assert_ptr_equal(schema_after(first, &first[1]), last);
	assert_null(schema_after(first, last));
	assert_ptr_equal(schema_after(empty, NULL), last);
	assert_ptr_equal(schema_find(first, "b.y", 3), last);
	assert_ptr_equal(schema_next_child(first, first, &first[1]), last);
	assert_ptr_equal(schema_child_named(first, first, "y"), last);
	assert_null(schema_next_child(first, first, last));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_with_place_and_reason),
		cmocka_unit_test(fills_in_every_default),
		cmocka_unit_test(prints_what_reads_back_the_same),
		cmocka_unit_test(knows_where_a_field_was_written),
		cmocka_unit_test(reads_a_list_of_values_as_one),
		cmocka_unit_test(reads_fields_that_an_option_table_describes),
		cmocka_unit_test(the_manual_names_every_field),
		cmocka_unit_test(table_continues_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
