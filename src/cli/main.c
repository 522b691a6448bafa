/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands.h"

static const struct command *const commands[] = {
	NULL,
};

static void print_help(void)
{
	puts("heddle - an InfiniBand fabric in software\n\n"
	     "Usage: heddle COMMAND [OPTION...]\n\n"
	     "Commands:");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'heddle COMMAND --help' explains a command, with examples.\n"
	     "'heddle --version' prints the version.");
}

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0) {
		print_help();
		return argc < 2 ? EXIT_USAGE : EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("heddle " HD_VERSION);
		return EXIT_DONE;
	}
	return command_dispatch(commands, argc - 1, argv + 1);
}
