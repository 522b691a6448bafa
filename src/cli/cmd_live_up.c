/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/live/live.h"
#include "fabric/fabric.h"

struct values {
	struct common_options common;
	const char *name;
	bool foreground;
};

#define V(member) offsetof(struct values, member)

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ "foreground", 0, OPT_FLAG, V(foreground), NULL, NULL,
	  "stay, and end the fabric when interrupted", NULL, 0, 0 },
	{ NULL },
};

/*
 * What tells the caller that programs can attach. From then on nobody listens:
 * whoever reads what the caller printed must not wait for the daemon's end.
 */
static void tell_ready(void *context)
{
	const int *fd = context;

	if (*fd < 0)
		return;
	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (write(*fd, "y", 1) == 1)
		close(*fd);
}

static int remove_one(const char *path, const struct stat *s, int kind,
		      struct FTW *where)
{
	(void)s;
	(void)kind;
	(void)where;
	remove(path);
	return 0;
}

static void remove_folder(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A folder that only this user may enter; a dead fabric's is taken over. */
static enum hd_status make_folder(const char *dir, const char *name,
				  struct diag *d)
{
	const char *const words[] = { "show" };
	struct strbuf out = STRBUF_INIT;
	struct diag quiet = { .status = HD_OK };
	bool runs = live_call(dir, words, 1, &quiet, &out) == HD_OK;

	strbuf_fini(&out);
	if (runs)
		return diag_fail(d, HD_ERR_ENV,
				 "a fabric '%s' runs already; 'heddle live "
				 "down --name %s' ends it",
				 name, name);
	remove_folder(dir);
	if (mkdir(dir, 0700) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot make '%s': %s", dir,
				 strerror(errno));
	return HD_OK;
}

static int serve(const struct fabric *f, const char *dir, int ready)
{
	struct diag d = { .status = HD_OK };
	enum hd_status status = live_run(&f->topo, dir, tell_ready, &ready, &d);

	remove_folder(dir);
	return status == HD_OK ? EXIT_DONE : command_refuse(&d);
}

/* The daemon, away from this terminal; the parent hears when it is ready. */
static int serve_apart(const struct fabric *f, const char *dir)
{
	int pipe_ends[2];
	char answer = 0;

	if (pipe(pipe_ends) != 0)
		return EXIT_ENVIRONMENT;
	fflush(NULL);
	pid_t child = fork();

	if (child < 0)
		return EXIT_ENVIRONMENT;
	if (child == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		close(pipe_ends[0]);
		setsid();
		signal(SIGHUP, SIG_IGN);
		dup2(nothing, 0);
		dup2(nothing, 1);
		/* Refusals are still told; afterwards there is nobody. */
		_exit(serve(f, dir, pipe_ends[1]));
	}
	close(pipe_ends[1]);
	bool is_up = read(pipe_ends[0], &answer, 1) == 1;

	close(pipe_ends[0]);
	if (is_up)
		return EXIT_DONE;
	int status = 0;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ENVIRONMENT;
}

static void print_what_next(const struct values *v, const struct topo *t)
{
	const char *host = NULL;
	unsigned hosts = 0, switches = 0;

	for (node_id n = 0; n < t->n_nodes; n++) {
		if (t->nodes[n].kind == NODE_SWITCH) {
			switches++;
			continue;
		}
		hosts++;
		if (!host)
			host = t->nodes[n].name;
	}
	printf("'%s' is up: %u hosts, %u switches, not managed yet\n", v->name,
	       hosts, switches);
	if (host)
		printf("heddle live exec %s -- opensm\n", host);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct diag d = { .status = HD_OK };
	struct fabric *f;
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	if (n_args != 1)
		return command_usage(self, "which SCENARIO or FABRIC?");
	if (!live_is_name(v.name))
		return command_usage(self, "'%s' is no name for a fabric",
				     v.name);
	if (fabric_open(argv[0], NULL, &d, &f) != HD_OK)
		return command_refuse(&d);
	char *dir = live_folder(v.name);

	if (make_folder(dir, v.name, &d) != HD_OK)
		status = command_refuse(&d);
	else if (v.foreground)
		status = serve(f, dir, -1);
	else
		status = serve_apart(f, dir);
	if (status == EXIT_DONE && !v.foreground && !v.common.quiet)
		print_what_next(&v, &f->topo);
	free(dir);
	fabric_free(f);
	return status;
}

static const struct example examples[] = {
	{ "heddle live up site.ibnet", "the fabric of a file" },
	{ "heddle live up 'fat-tree --radix 36 --levels 2' --name lab",
	  "a generated one" },
	{ NULL, NULL },
};

const struct command command_live_up = {
	.name = "live up",
	.summary = "start a fabric",
	.arguments = "SCENARIO|FABRIC",
	.description =
		"Starts the daemon of a fabric: all cables are plugged in, all "
		"links are trained, and no subnet manager has been there. "
		"Programs attach with 'heddle live exec'; other users are "
		"refused. Its folder is in $XDG_RUNTIME_DIR, or else in /tmp.",
	.options = options,
	.examples = examples,
	.run = run,
};
