/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How latency grows with the load: one scenario, several settings, a number
 * of a table of each run.
 *
 *	cc loads.c $(pkg-config --cflags --libs heddle) -o loads
 *	./loads ../fat-tree-70.yaml 10% 30% 50%
 */
#include <heddle.h>
#include <stdio.h>

/* Runs the scenario at that load; what went wrong is in `error`. */
static int run_at(const char *file, const char *load, struct hd_error *error)
{
	const struct hd_setting setting = { "traffic.0.load", load };
	struct hd_run_options options = HD_RUN_OPTIONS_INIT;
	struct hd_run *run;

	options.settings = &setting;
	options.n_settings = 1;
	int code = hd_run_open(file, &options, &run, error);

	if (code != HD_DONE)
		return code;
	code = hd_run_go(run, error);
	if (code == HD_DONE) {
		const struct hd_table *t = hd_run_table(run, "traffic");
		size_t p99 = hd_column_find(t, "p99");

		printf("%s %.3f %s\n", load, hd_cell_real(t, 0, p99), hd_column_unit(t, p99));
	}
	hd_run_close(run);
	return code;
}

int main(int argc, char **argv)
{
	struct hd_error error = HD_ERROR_INIT;

	if (argc < 3 || hd_abi() != HD_ABI) {
		fprintf(stderr, "usage: loads SCENARIO LOAD...\n");
		return HD_MISUSE;
	}
	for (int i = 2; i < argc; i++) {
		if (run_at(argv[1], argv[i], &error) != HD_DONE) {
			fprintf(stderr, "loads: %s\n", error.text);
			return error.code;
		}
	}
	return 0;
}
