/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/heddle-file-XXXXXX";

static const char *inside(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static unsigned files_there(void)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static int remove_folder(void **state)
{
	DIR *dir = opendir(folder);

	(void)state;
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] != '.')
			unlink(inside(e->d_name));
	}
	closedir(dir);
	return rmdir(folder);
}

static void what_is_written_reads_back(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;
	static const char bytes[] = "a\0b\nlast";

	(void)state;
	assert_int_equal(file_write(inside("x"), bytes, 8, &d), HD_OK);
	assert_int_equal(file_read(inside("x"), 8, &d, &got), HD_OK);
	assert_int_equal(got.len, 8);
	assert_memory_equal(got.text, bytes, 8);
	assert_int_equal(files_there(), 1);
	strbuf_fini(&got);
}

static void a_file_over_the_limit_is_refused_whole(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;

	(void)state;
	strbuf_puts(&got, "before");
	assert_int_equal(file_write(inside("x"), "123456789", 9, &d), HD_OK);
	assert_int_equal(file_read(inside("x"), 8, &d, &got), HD_ERR_INPUT);
	assert_string_equal(got.text, "before");
	assert_string_equal(d.message, "is larger than the limit of 8 bytes");
	strbuf_fini(&got);
}

static void a_missing_file_and_a_folder_are_not_found(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT, line = STRBUF_INIT;

	(void)state;
	assert_int_equal(file_read("/nowhere/x", 8, &d, &got), HD_ERR_NOT_FOUND);
	diag_print(&d, &line);
	assert_string_equal(line.text, "/nowhere/x: cannot be read: No such file or directory");
	d.status = HD_OK;
	assert_int_equal(file_read(folder, 8, &d, &got), HD_ERR_NOT_FOUND);
	strbuf_fini(&line);
	strbuf_fini(&got);
}

static void an_abandoned_write_leaves_the_old_file(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;
	struct file_writer w;

	(void)state;
	assert_int_equal(file_write(inside("x"), "old", 3, &d), HD_OK);
	assert_int_equal(file_create(&w, inside("x"), &d), HD_OK);
	fputs("half of the new", w.stream);
	file_abandon(&w);
	assert_int_equal(file_read(inside("x"), 100, &d, &got), HD_OK);
	assert_string_equal(got.text, "old");
	assert_int_equal(files_there(), 1);
	strbuf_fini(&got);
}

/* The process ends in the middle and no handler runs. */
static void a_killed_writer_leaves_nothing(void **state)
{
	struct diag d = { .status = HD_OK };
	unsigned before = files_there();
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct file_writer w;

		if (file_create(&w, inside("killed"), &d) != HD_OK)
			_exit(1);
		for (unsigned i = 0; i < 100000; i++)
			fputs("a line of many\n", w.stream);
		fflush(w.stream);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(files_there(), before);
}

static void a_full_device_is_reported(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(file_write("/dev/full", "x", 1, &d), HD_ERR_IO);
	assert_string_equal(d.message, "cannot be written: No space left on device");
}

static void a_folder_that_is_not_there_is_reported(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(file_write("/nowhere/x", "x", 1, &d), HD_ERR_IO);
}

static void a_place_is_refused_before_anything_is_written(void **state)
{
	struct diag d = { .status = HD_OK };
	struct stat st;

	(void)state;
	assert_int_equal(file_check_place(inside("early"), &d), HD_OK);
	assert_int_equal(stat(inside("early"), &st), -1);
	assert_int_equal(file_check_place("early", &d), HD_OK);
	assert_int_equal(file_check_place("/dev/full", &d), HD_OK);
	assert_int_equal(file_check_place("/nowhere/x", &d), HD_ERR_IO);
	assert_string_equal(d.message, "cannot be written: No such file or directory");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(file_check_place("/tmp", &d), HD_ERR_IO);
	assert_string_equal(d.message, "cannot be written: Is a directory");
}

static void replacing_keeps_permissions_and_links(void **state)
{
	struct diag d = { .status = HD_OK };
	struct stat st;
	char link[512];

	(void)state;
	snprintf(link, sizeof(link), "%s", inside("link"));
	assert_int_equal(file_write(inside("x"), "old", 3, &d), HD_OK);
	assert_int_equal(chmod(inside("x"), 0640), 0);
	assert_int_equal(symlink("x", link), 0);
	assert_int_equal(file_write(link, "newer", 5, &d), HD_OK);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(inside("x"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(unlink(link), 0);
}

static void a_new_file_obeys_the_umask(void **state)
{
	struct diag d = { .status = HD_OK };
	struct stat st;
	mode_t old = umask(027);

	(void)state;
	assert_int_equal(file_write(inside("new"), "x", 1, &d), HD_OK);
	umask(old);
	assert_int_equal(stat(inside("new"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(unlink(inside("new")), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void permissions_stay_but_set_user_id(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(file_write(inside("x"), "old", 3, &d), HD_OK);
	assert_int_equal(chmod(inside("x"), 07751), 0);
	assert_int_equal(file_write(inside("x"), "new", 3, &d), HD_OK);
	assert_int_equal(mode_of(inside("x")), 0751);
	assert_int_equal(chmod(inside("x"), 0600), 0);
}

/* A chain of links, relative and absolute, to a file that is not there. */
static void writing_to_a_dangling_link_makes_its_file(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;
	struct stat st;
	char second[600];

	(void)state;
	snprintf(second, sizeof(second), "%s/second", folder);
	assert_int_equal(symlink(second, inside("first")), 0);
	assert_int_equal(symlink("made", second), 0);
	assert_int_equal(file_check_place(inside("first"), &d), HD_OK);
	assert_int_equal(file_write(inside("first"), "new", 3, &d), HD_OK);
	assert_int_equal(lstat(inside("first"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(file_read(inside("made"), 100, &d, &got), HD_OK);
	assert_string_equal(got.text, "new");
	strbuf_fini(&got);
	unlink(inside("made"));
	unlink(inside("first"));
	unlink(second);
}

static void links_that_lead_nowhere_are_refused(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(symlink("/nowhere/x", inside("far")), 0);
	assert_int_equal(file_check_place(inside("far"), &d), HD_ERR_IO);
	d.status = HD_OK;
	assert_int_equal(file_write(inside("far"), "new", 3, &d), HD_ERR_IO);
	assert_string_equal(d.message, "cannot be written: No such file or directory");
	unlink(inside("far"));
	assert_int_equal(symlink("circle", inside("circle")), 0);
	d.status = HD_OK;
	assert_int_equal(file_write(inside("circle"), "new", 3, &d), HD_ERR_IO);
	assert_string_equal(d.message, "cannot be written: Too many levels of symbolic links");
	unlink(inside("circle"));
}

/* The error is that of the first write, whatever the later errno. */
static void a_full_disk_is_named_with_its_file(void **state)
{
	struct diag d = { .status = HD_OK, .file = "input", .line = 7 };
	struct strbuf line = STRBUF_INIT;
	struct file_writer w;

	(void)state;
	assert_int_equal(file_create(&w, "/dev/full", &d), HD_OK);
	for (int i = 0; i < 100000; i++)
		fputs("more than a buffer", w.stream);
	d.file = "input";
	errno = ENOTTY;
	assert_int_equal(file_commit(&w, &d), HD_ERR_IO);
	diag_print(&d, &line);
	assert_string_equal(line.text, "/dev/full: cannot be written: No space left on device");
	strbuf_fini(&line);
}

/* The file is open, and no second descriptor is available. */
static void too_many_open_files_are_called_so(void **state)
{
	struct diag d = { .status = HD_OK };
	unsigned before = files_there();
	struct rlimit had, none_more;
	struct file_writer w;
	int next;

	(void)state;
	assert_int_equal(file_create(&w, inside("last"), &d), HD_OK);
	if (w.partial) { /* it has a name, and needs no descriptor to get one */
		file_abandon(&w);
		skip();
	}
	fputs("x", w.stream);
	next = open("/dev/null", O_RDONLY);
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	none_more = had;
	none_more.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none_more), 0);
	assert_int_equal(file_commit(&w, &d), HD_ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	assert_string_equal(d.message, "cannot be written: Too many open files");
	assert_int_equal(files_there(), before);
}

static void reads_back(const char *path, const char *want)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;

	assert_int_equal(file_read(path, 100, &d, &got), HD_OK);
	assert_string_equal(got.text, want);
	strbuf_fini(&got);
}

/* The file_part of a file that begins with `text`. */
static struct file_part part_of(const char *text)
{
	struct file_part part = { .len = strlen(text), .content = DIGEST_START };

	digest_add(&part.content, text, part.len);
	return part;
}

/* Starts "long" with "first,", keeps that and continues with `more`. */
static struct file_part begin_long(struct file_writer *w, const char *more, char *partial,
				   size_t size)
{
	struct diag d = { .status = HD_OK };
	struct file_part part = { .len = 0 }, want = part_of("first,");

	assert_int_equal(file_create(w, inside("long"), &d), HD_OK);
	fputs("first,", w->stream);
	assert_int_equal(file_keep(w, &d, &part), HD_OK);
	assert_memory_equal(&part, &want, sizeof(part));
	file_keep_partial(w);
	snprintf(partial, size, "%s", w->partial);
	fputs(more, w->stream);
	return part;
}

/* Continues it from `part`, after "second". */
static void go_on(const char *partial, const struct file_part *part)
{
	struct diag d = { .status = HD_OK };
	struct file_part all = { .len = 0 }, want = part_of("first,second");
	struct file_writer w;

	assert_int_equal(file_resume(&w, inside("long"), partial, inside("long"), &d), HD_OK);
	fputs("a head again", w.stream);
	assert_int_equal(file_cut(&w, part, &d), HD_OK);
	fputs("second", w.stream);
	assert_int_equal(file_keep(&w, &d, &all), HD_OK);
	assert_memory_equal(&all, &want, sizeof(all));
	w.durable = true;
	assert_int_equal(file_commit(&w, &d), HD_OK);
	reads_back(inside("long"), "first,second");
}

/* Its name is unknown to other processes. */
static void unused_kept_file_is_removed(void **state)
{
	unsigned before = files_there();
	struct diag d = { .status = HD_OK };
	struct file_part part;
	struct file_writer w;

	(void)state;
	assert_int_equal(file_create(&w, inside("vain"), &d), HD_OK);
	fputs("first,", w.stream);
	assert_int_equal(file_keep(&w, &d, &part), HD_OK);
	assert_int_equal(files_there(), before + 1);
	file_abandon(&w);
	assert_int_equal(files_there(), before);
}

/* One process writes the file; another one continues at the kept position. */
static void kept_files_can_be_resumed(void **state)
{
	struct file_writer w;
	char partial[600];
	struct file_part part = begin_long(&w, "lost", partial, sizeof(partial));

	(void)state;
	file_abandon(&w);
	reads_back(partial, "first,lost");
	go_on(partial, &part);
	assert_int_equal(access(partial, F_OK), -1);
	unlink(inside("long"));
}

/* A process may end after a commit with more work to do. */
static void committed_files_can_be_resumed(void **state)
{
	struct diag d = { .status = HD_OK };
	struct file_writer w;
	char partial[600];
	struct file_part part = begin_long(&w, "lost", partial, sizeof(partial));

	(void)state;
	assert_int_equal(file_commit(&w, &d), HD_OK);
	reads_back(inside("long"), "first,lost");
	assert_int_equal(file_resume(&w, inside("long"), partial, inside("long"), &d), HD_OK);
	fputs("a head again", w.stream);
	assert_int_equal(file_cut(&w, &part, &d), HD_OK);
	file_abandon(&w); /* no effect in this state */
	reads_back(inside("long"), "first,lost");
	go_on(partial, &part);
	go_on(partial, &part); /* and any number of times */
	unlink(inside("long"));
}

static void removed_or_changed_files_are_refused(void **state)
{
	struct file_part five = part_of("12345"), six = part_of("123456"), other = part_of("12344");
	struct diag d = { .status = HD_OK };
	struct file_writer w;
	char partial[600], target[600];

	(void)state;
	snprintf(partial, sizeof(partial), "%s", inside("part"));
	snprintf(target, sizeof(target), "%s", inside("long"));
	assert_int_equal(file_resume(&w, target, partial, target, &d), HD_ERR_NOT_FOUND);
	for (int named = 0; named < 2; named++) {
		const char *there = named ? target : partial;

		d.status = HD_OK;
		assert_int_equal(file_write(there, "12345", 5, &d), HD_OK);
		assert_int_equal(file_resume(&w, target, partial, target, &d), HD_OK);
		assert_int_equal(file_cut(&w, &six, &d), HD_ERR_INPUT);
		d.status = HD_OK;
		assert_int_equal(file_cut(&w, &other, &d), HD_ERR_INPUT);
		d.status = HD_OK;
		assert_int_equal(file_cut(&w, &five, &d), HD_OK);
		file_abandon(&w);
		reads_back(there, "12345"); /* it is not ours to remove */
		unlink(there);
	}
}

static void non_files_cannot_be_resumed(void **state)
{
	struct diag d = { .status = HD_OK };
	struct file_writer w;
	char partial[600];
	struct stat st;

	(void)state;
	begin_long(&w, "lost", partial, sizeof(partial));
	file_abandon(&w);
	assert_int_equal(file_resume(&w, "/dev/null", partial, inside("long"), &d), HD_ERR_INPUT);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	unlink(partial);
}

static void what_never_ends_is_refused_unread(void **state)
{
	static const char *const devices[] = { "/dev/zero", "/dev/full" };
	struct strbuf got = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		d.status = HD_OK;
		assert_int_equal(file_read(devices[i], SIZE_MAX, &d, &got), HD_ERR_INPUT);
		assert_int_equal(got.len, 0);
	}
	d.status = HD_OK;
	assert_int_equal(file_read("/dev/null", 1, &d, &got), HD_OK);
	/* A sparse file, larger than any memory. */
	assert_int_equal(file_write(inside("hole"), "", 0, &d), HD_OK);
	assert_int_equal(truncate(inside("hole"), INT64_C(1) << 42), 0);
	assert_int_equal(file_read(inside("hole"), (size_t)1 << 41, &d, &got), HD_ERR_INPUT);
	assert_int_equal(got.cap, 0);
	unlink(inside("hole"));
	strbuf_fini(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(a_file_over_the_limit_is_refused_whole),
		cmocka_unit_test(a_missing_file_and_a_folder_are_not_found),
		cmocka_unit_test(an_abandoned_write_leaves_the_old_file),
		cmocka_unit_test(a_killed_writer_leaves_nothing),
		cmocka_unit_test(a_full_device_is_reported),
		cmocka_unit_test(a_folder_that_is_not_there_is_reported),
		cmocka_unit_test(a_place_is_refused_before_anything_is_written),
		cmocka_unit_test(replacing_keeps_permissions_and_links),
		cmocka_unit_test(a_new_file_obeys_the_umask),
		cmocka_unit_test(permissions_stay_but_set_user_id),
		cmocka_unit_test(writing_to_a_dangling_link_makes_its_file),
		cmocka_unit_test(links_that_lead_nowhere_are_refused),
		cmocka_unit_test(a_full_disk_is_named_with_its_file),
		cmocka_unit_test(too_many_open_files_are_called_so),
		cmocka_unit_test(what_never_ends_is_refused_unread),
		cmocka_unit_test(unused_kept_file_is_removed),
		cmocka_unit_test(kept_files_can_be_resumed),
		cmocka_unit_test(committed_files_can_be_resumed),
		cmocka_unit_test(removed_or_changed_files_are_refused),
		cmocka_unit_test(non_files_cannot_be_resumed),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
