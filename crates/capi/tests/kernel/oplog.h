/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What oplog.c reads and compares: the fields of a line, answers, digests.
 */
#ifndef OPLOG_H
#define OPLOG_H

#include <freehold/maple_tree.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 16

static struct ma_state kept;
static unsigned long line_number, compared, mismatches;

struct line {
	char *text;              /* for messages */
	char *field[FIELDS + 1]; /* operands; NULL behind the last */
	char *answer[FIELDS + 1];
	bool loose;
};

static void bad(const char *what)
{
	fprintf(stderr, "line %lu: %s\n", line_number, what);
	exit(2);
}

static unsigned long number(const char *text, int base)
{
	char *end;
	unsigned long value;

	if (text == NULL)
		bad("a field is missing");
	value = strtoul(text, &end, base);
	if (end == text || *end != '\0')
		bad("a field is no number");
	return value;
}

static unsigned long hex(const char *text)
{
	return number(text, 16);
}

static void *entry_of(const char *text)
{
	if (text == NULL)
		bad("a value is missing");
	if (strcmp(text, "-") == 0)
		return NULL;
	if (strcmp(text, "Z") == 0)
		return XA_ZERO_ENTRY;
	return xa_mk_value(number(text, 10));
}

/* ---- Answers ---- */

static void expect(const struct line *line, bool same, const char *what, unsigned long got)
{
	compared++;
	if (same)
		return;
	if (mismatches++ < 10)
		printf("line %lu: %s: %s is %lx\n", line_number, line->text, what, got);
}

static void expect_code(const struct line *line, int code)
{
	if (line->answer[0] == NULL)
		bad("a code is missing");
	expect(line, strtol(line->answer[0], NULL, 10) == code, "code", (unsigned long)code);
}

static void expect_entry(const struct line *line, const void *entry)
{
	expect(line, entry == entry_of(line->answer[0]), "entry", (unsigned long)entry);
}

static void expect_index(const struct line *line, int field, unsigned long index)
{
	expect(line, index == hex(line->answer[field]), "index", index);
}

static void expect_range(const struct line *line, const struct ma_state *mas)
{
	if (line->loose)
		return;
	expect_index(line, 1, mas->index);
	expect_index(line, 2, mas->last);
}

static void expect_moved(const struct line *line, const void *entry)
{
	static const char letters[] = { 'a', 's', 'r', 'n', 'p', 'o', 'u', 'e' };

	expect_entry(line, entry);
	if (line->loose)
		return;
	expect_range(line, &kept);
	if (line->answer[3] == NULL)
		bad("a state is missing");
	expect(line, letters[kept.status] == line->answer[3][0], "state", (unsigned long)kept.status);
}

/* ---- Digests ---- */

static const uint64_t DIGEST = 0xcbf29ce484222325u;

static void digest(uint64_t *hash, uint64_t word)
{
	*hash = (*hash ^ word) * 0x9e3779b97f4a7c15u;
	*hash ^= *hash >> 32;
}

static uint64_t word_of(const void *entry)
{
	if (entry == NULL)
		return 0;
	return xa_is_zero(entry) ? UINT64_MAX : xa_to_value(entry);
}

#endif /* OPLOG_H */
