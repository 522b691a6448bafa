/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/manual.h"

#include <string.h>

/* Writes "topo gen" as "TOPO-GEN": a space would end the title. */
static void put_upper(struct strbuf *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ')
			strbuf_puts(out, "\\-");
		else
			strbuf_putc(out, *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A')
								      : *name);
	}
}

/* Writes "topo gen" as "topo-gen". */
static void put_dashed(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		strbuf_puts(out, *name == ' ' ? "\\-" : (char[]){ *name, 0 });
}

static void put_title(struct strbuf *out, const char *name)
{
	strbuf_puts(out, ".\\\" SPDX-License-Identifier: BSD-2-Clause\n"
			 ".\\\" Written by 'heddle --man': do not edit.\n"
			 ".TH HEDDLE");
	if (*name)
		strbuf_puts(out, "\\-");
	put_upper(out, name);
	strbuf_puts(out, " 1 \"\" \"Heddle " HD_VERSION "\" \"Heddle\"\n");
}

/* Writes paragraphs; indented paragraphs keep their lines. */
static void put_prose(struct strbuf *out, const struct command *c)
{
	struct strbuf all = STRBUF_INIT;

	command_describe(c, &all);
	for (const char *text = all.text; *text;) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);
		struct strbuf part = STRBUF_INIT;
		bool verbatim = *text == ' ';

		strbuf_add(&part, text, len);
		strbuf_puts(out, verbatim ? ".PP\n.nf\n" : ".PP\n");
		option_man_text(out, part.text);
		strbuf_puts(out, verbatim ? "\n.fi\n" : "\n");
		strbuf_fini(&part);
		text += len + strspn(text + len, "\n");
	}
	strbuf_fini(&all);
}

/* On one source line: roff would take "...]" at the end of a line as the end of a sentence. */
static void put_synopsis(struct strbuf *out, const struct command *c)
{
	strbuf_puts(out, ".PP\n\\fBheddle ");
	option_man_text(out, c->name);
	strbuf_puts(out, "\\fR [\\fIOPTION\\fR...]");
	if (*c->arguments) {
		strbuf_puts(out, " \\fI");
		option_man_text(out, c->arguments);
		strbuf_puts(out, "\\fR");
	}
	strbuf_putc(out, '\n');
}

static void put_examples(struct strbuf *out, const struct example *e)
{
	for (; e && e->command; e++) {
		strbuf_puts(out, ".TP\n.B ");
		option_man_text(out, e->command);
		strbuf_putc(out, '\n');
		option_man_text(out, e->meaning);
		strbuf_puts(out, ".\n");
	}
}

static void put_exit_status(struct strbuf *out)
{
	strbuf_puts(
		out,
		".SH EXIT STATUS\n"
		".TP\n.B 0\ndone, and every stated goal met.\n"
		".TP\n.B 1\ndone, but a stated goal was missed.\n"
		".TP\n.B 2\nthe command line is invalid: an unknown command, option, or name out of a list that the help shows, a value that is not what its option takes, options that exclude each other.\n"
		".TP\n.B 3\ninput was refused: a file, a fabric, a "
		"class or another description, also where it is "
		"written on the command line, numbers that a model "
		"does not cover, or a name that is looked up in them "
		"and not there.\n"
		".TP\n.B 4\nthe host lacks something: disk space, a device, a permission.\n");
}

/* Reference to the command's own page, with its summary. */
static void put_reference(struct strbuf *out, const struct command *c)
{
	strbuf_puts(out, ".TP\n.BR heddle\\-");
	put_dashed(out, c->name);
	strbuf_puts(out, " (1)\n");
	option_man_text(out, c->summary);
	strbuf_puts(out, ".\n");
}

/* The page of a group lists its commands, without their options. */
static void put_members(struct strbuf *out, const struct command *c)
{
	strbuf_puts(out, ".SH COMMANDS\n");
	for (size_t i = 0; c->subcommands[i]; i++)
		put_reference(out, c->subcommands[i]);
}

/* For "topo gen": "heddle-topo(1),", the page of its group. */
static void put_group(struct strbuf *out, const char *name)
{
	const char *space = strchr(name, ' ');

	if (space)
		strbuf_printf(out, ".BR heddle\\-%.*s (1),\n", (int)(space - name), name);
}

void manual_command(const struct command *c, struct strbuf *out)
{
	const struct option *tables[] = { c->options, command_common(c), NULL };

	put_title(out, c->name);
	strbuf_puts(out, ".SH NAME\nheddle\\-");
	put_dashed(out, c->name);
	strbuf_puts(out, " \\- ");
	option_man_text(out, c->summary);
	strbuf_puts(out, "\n.SH SYNOPSIS\n");
	if (!c->subcommands)
		put_synopsis(out, c);
	for (size_t i = 0; c->subcommands && c->subcommands[i]; i++)
		put_synopsis(out, c->subcommands[i]);
	strbuf_puts(out, ".SH DESCRIPTION\n");
	put_prose(out, c);
	if (c->subcommands)
		put_members(out, c);
	strbuf_puts(out, ".SH OPTIONS\n");
	options_man(c->options ? tables : tables + 1, out);
	if (c->examples)
		strbuf_puts(out, ".SH EXAMPLES\n");
	put_examples(out, c->examples);
	put_exit_status(out);
	strbuf_puts(out, ".SH SEE ALSO\n.BR heddle (1),\n");
	put_group(out, c->name);
	strbuf_puts(out, ".BR heddle\\-scenario (5),\n"
			 ".BR heddle\\-results (5),\n"
			 ".BR heddle\\-quantities (7)\n");
}

void manual_program(const struct command *const *commands, struct strbuf *out)
{
	const struct option *tables[] = { command_common_options, NULL };

	put_title(out, "");
	strbuf_puts(out, ".SH NAME\nheddle \\- an InfiniBand fabric in software\n.SH SYNOPSIS\n"
			 "\\fBheddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
			 ".PP\n\\fBheddle help\\fR [\\fICOMMAND\\fR]\n"
			 ".PP\n\\fBheddle \\-\\-version\\fR\n");
	strbuf_puts(out, ".SH DESCRIPTION\n"
			 "Describe a fabric and the traffic it must carry; Heddle\n"
			 "computes routes, multicast trees and QoS tables, decides\n"
			 "which flows can be admitted, and shows by simulation and\n"
			 "by analysis what they get.\n"
			 ".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++)
		put_reference(out, commands[i]);
	strbuf_puts(
		out,
		".SH OPTIONS\nCommands with results take these, others those that mean something there.\n");
	options_man(tables, out);
	put_exit_status(out);
	strbuf_puts(out, ".SH SEE ALSO\n.BR heddle\\-scenario (5),\n"
			 ".BR heddle\\-results (5),\n"
			 ".BR heddle\\-quantities (7)\n");
}

/* Completion words: subcommands, arguments, then options. */
static void put_words(struct strbuf *out, const struct command *c)
{
	const struct option *tables[] = { command_common(c), c->options, NULL };

	for (size_t i = 0; c->subcommands && c->subcommands[i]; i++)
		strbuf_printf(out, "%s ", command_short_name(c->subcommands[i]));
	if (c->words)
		c->words(out);
	for (size_t t = 0; tables[t]; t++) {
		for (const struct option *o = tables[t]; o->name; o++) {
			if (option_is_shown(tables, o))
				strbuf_printf(out, "--%s ", o->name);
		}
	}
}

/* True for options with a scenario field and a value: --set, --vary. */
static bool is_field(const struct option *o)
{
	return o->value &&
	       (strcmp(o->value, "PATH=VALUE") == 0 || strcmp(o->value, "FIELD=VALUES") == 0);
}

/* True if a value follows the option; it is one of a list of words, or else a file. */
static bool has_value(const struct option *o)
{
	return (o->value || o->choices || o->words) && !is_field(o);
}

static void put_choices(struct strbuf *out, const struct option *o)
{
	for (; o && o->name; o++) {
		if (is_field(o))
			strbuf_printf(out, "\t\tchoices[--%s]=$paths\n", o->name);
		if (!has_value(o))
			continue;
		strbuf_printf(out, "\t\tchoices[--%s]='", o->name);
		for (size_t i = 0; o->choices && o->choices[i]; i++)
			strbuf_printf(out, "%s%s", i ? " " : "", o->choices[i]);
		if (o->words)
			o->words(out);
		if (!o->choices && !o->words)
			strbuf_putc(out, ' ');
		strbuf_puts(out, "'\n");
		if (o->letter)
			strbuf_printf(out, "\t\tchoices[-%c]=${choices[--%s]}\n", o->letter,
				      o->name);
	}
}

/* One arm of the case per command: its words, then the choices of its options. */
static void put_command_arm(struct strbuf *out, const struct command *c)
{
	strbuf_printf(out, "\t'%s')\n\t\twords='", c->name);
	put_words(out, c);
	strbuf_puts(out, "'\n");
	put_choices(out, c->options);
	strbuf_puts(out, "\t\t;;\n");
	for (size_t i = 0; c->subcommands && c->subcommands[i]; i++)
		put_command_arm(out, c->subcommands[i]);
}

/* Names of commands with subcommands, as a pattern of a case. */
static void put_groups(struct strbuf *out, const struct command *const *commands)
{
	bool any = false;

	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->subcommands)
			continue;
		strbuf_printf(out, "%s%s", any ? " | " : "", commands[i]->name);
		any = true;
	}
	if (!any)
		strbuf_puts(out, "''");
}

/* Field paths that --set takes before '=', and the values of choices after it. */
static void put_paths(struct strbuf *out, const char *lines)
{
	struct strbuf paths = STRBUF_INIT;

	strbuf_puts(out, "\tlocal -A values=(");
	for (const char *end; *lines; lines = end + 1) {
		end = strchr(lines, '\n');
		size_t len = strcspn(lines, " \n");

		strbuf_add(&paths, lines, len);
		strbuf_puts(&paths, "= ");
		if (lines[len] == ' ')
			strbuf_printf(out, "\n\t\t[%.*s]='%.*s'", (int)len, lines,
				      (int)(end - lines) - (int)len - 1, lines + len + 1);
	}
	strbuf_printf(out, ")\n\tlocal paths='%s'\n", paths.text);
	strbuf_fini(&paths);
}

void manual_completion(const struct command *const *commands, const char *paths, struct strbuf *out)
{
	strbuf_puts(out, "# bash completion for heddle; written by 'heddle --completion'\n"
			 "_heddle()\n{\n"
			 "\tlocal word=${COMP_WORDS[COMP_CWORD]} words= command=\n"
			 "\tlocal before=${COMP_WORDS[COMP_CWORD - 1]} i field=\n"
			 "\tlocal -A choices=()\n");
	put_paths(out, paths);
	strbuf_puts(out, "\n\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			 "\t\t[[ ${COMP_WORDS[i]} != -* ]] || continue\n"
			 "\t\t[[ -n $command ]] || { command=${COMP_WORDS[i]}; continue; }\n"
			 "\t\tcase $command in\n\t\t");
	put_groups(out, commands);
	strbuf_puts(out, ") command+=\" ${COMP_WORDS[i]}\" ;;\n"
			 "\t\tesac\n\t\tbreak\n\tdone\n");
	put_choices(out, command_common_options);
	strbuf_puts(out, "\tcase $command in\n\t'' | help)\n\t\twords='");
	for (size_t i = 0; commands[i]; i++)
		strbuf_printf(out, "%s ", commands[i]->name);
	strbuf_puts(out, "help --help --version'\n\t\t;;\n");
	for (size_t i = 0; commands[i]; i++)
		put_command_arm(out, commands[i]);
	strbuf_puts(out, "\tesac\n"
			 /* bash splits words at '='. */
			 "\tif [[ $word == = ]]; then\n"
			 "\t\tfield=$before word=\n"
			 "\telif [[ $before == = ]]; then\n"
			 "\t\tfield=${COMP_WORDS[COMP_CWORD - 2]}\n"
			 "\tfi\n"
			 "\tif [[ -n $field ]]; then\n"
			 "\t\twords=${values[$field]-${choices[$field]-}}\n"
			 "\telif [[ -n ${choices[$before]-} ]]; then\n"
			 "\t\twords=${choices[$before]}\n"
			 "\tfi\n"
			 "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			 "\t[[ ${COMPREPLY-} != *= ]] || compopt -o nospace 2>/dev/null\n"
			 "}\n"
			 "complete -o default -F _heddle heddle\n");
}
