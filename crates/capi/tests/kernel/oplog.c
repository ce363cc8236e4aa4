/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Drives an op log of the kernel's maple tree through freehold/maple_tree.h, and compares each answer with the
 * recorded one. Reads the log from stdin; data/vectors/README.md has its format.
 *
 *	zstd -dc pub01-tiny-plain-mix.txt.zst | oplog pub01
 *	zstd -dc pub01-tiny-plain-mix.txt.zst | oplog pub01 flip
 *
 * With `flip`, MT_FLAGS_USE_RCU is set on all trees, and cleared again, every so many lines: it changes no answer.
 *
 * Not compared: h lines, which are of the kernel's nodes; index, last and state where a line ends in ~; an old entry
 * that is recorded as ?. Exits with 1 after a mismatch.
 */
#include "oplog.h"

#define TREES 64
#define FLIP_LINES 997

static struct maple_tree trees[TREES];
static bool exists[TREES];
static unsigned int current, initial_flags;
/* ---- Operations ---- */

static struct maple_tree *tree(unsigned long id)
{
	if (id >= TREES)
		bad("too many trees");
	if (!exists[id]) {
		mt_init_flags(&trees[id], initial_flags);
		exists[id] = true;
	}
	return &trees[id];
}

/* Calls without a cursor. */
static bool plain(const struct line *line, const char *op, struct maple_tree *mt)
{
	char *const *in = line->field;
	unsigned long index, next;
	int code;

	if (strcmp(op, "s") == 0) {
		expect_code(line, mtree_store_range(mt, hex(in[0]), hex(in[1]), entry_of(in[2]), GFP_KERNEL));
	} else if (strcmp(op, "i") == 0) {
		expect_code(line, mtree_insert_range(mt, hex(in[0]), hex(in[1]), entry_of(in[2]), GFP_KERNEL));
	} else if (strcmp(op, "e") == 0) {
		expect_entry(line, mtree_erase(mt, hex(in[0])));
	} else if (strcmp(op, "l") == 0) {
		expect_entry(line, mtree_load(mt, hex(in[0])));
	} else if (strcmp(op, "f") == 0 || strcmp(op, "fa") == 0) {
		index = hex(in[0]);
		expect_entry(line, op[1] ? mt_find_after(mt, &index, hex(in[1])) : mt_find(mt, &index, hex(in[1])));
		expect_index(line, 1, index);
	} else if (strcmp(op, "n") == 0) {
		expect_entry(line, mt_next(mt, hex(in[0]), hex(in[1])));
	} else if (strcmp(op, "p") == 0) {
		expect_entry(line, mt_prev(mt, hex(in[0]), hex(in[1])));
	} else if (strcmp(op, "af") == 0 || strcmp(op, "ar") == 0) {
		code = (op[1] == 'f' ? mtree_alloc_range : mtree_alloc_rrange)(
			mt, &index, entry_of(in[3]), hex(in[0]), hex(in[1]), hex(in[2]), GFP_KERNEL);
		expect_code(line, code);
		if (code == 0)
			expect_index(line, 1, index);
	} else if (strcmp(op, "ac") == 0) {
		next = hex(in[2]);
		code = mtree_alloc_cyclic(mt, &index, entry_of(in[3]), hex(in[0]), hex(in[1]), &next, GFP_KERNEL);
		expect_code(line, code);
		if (code >= 0) {
			expect_index(line, 1, index);
			expect_index(line, 2, next);
		} else {
			expect(line, next == hex(in[2]), "next", next);
		}
	} else {
		return false;
	}
	return true;
}

typedef void *step_fn(struct ma_state *mas, unsigned long limit);

static step_fn *step_of(char letter)
{
	switch (letter) {
	case 'f':
		return mas_find;
	case 'F':
		return mas_find_range;
	case 'v':
		return mas_find_rev;
	case 'V':
		return mas_find_range_rev;
	case 'n':
		return mas_next;
	case 'N':
		return mas_next_range;
	case 'b':
		return mas_prev;
	case 'B':
		return mas_prev_range;
	default:
		return NULL;
	}
}

/* Calls of a fresh cursor, and of the cursor that is kept. */
static bool cursor(const struct line *line, const char *op, struct maple_tree *mt)
{
	char *const *in = line->field;
	void *entry;
	int code;

	if (strcmp(op, "ef") == 0 || strcmp(op, "er") == 0) {
		mas_init(&kept, mt, 0);
		mas_lock(&kept);
		code = (op[1] == 'f' ? mas_empty_area : mas_empty_area_rev)(&kept, hex(in[0]), hex(in[1]), hex(in[2]));
		mas_unlock(&kept);
		expect_code(line, code);
		if (code == 0)
			expect_range(line, &kept);
		return true;
	}
	if (strcmp(op, "eg") == 0) {
		mas_lock(&kept);
		code = mas_store_gfp(&kept, entry_of(in[0]), GFP_KERNEL);
		mas_unlock(&kept);
		expect_code(line, code);
		expect_range(line, &kept);
		return true;
	}
	if (op[0] != 'm' || op[1] == '\0' || op[2] != '\0')
		return false;
	switch (op[1]) {
	case 's':
		mas_init(&kept, mt, hex(in[0]));
		return true;
	case 'p':
		mas_pause(&kept);
		return true;
	case 'r':
		mas_reset(&kept);
		return true;
	case 'w':
		rcu_read_lock();
		expect_moved(line, mas_walk(&kept));
		rcu_read_unlock();
		return true;
	case 'S':
	case 'G':
	case 'P':
	case 'E': {
		MA_STATE(mas, mt, hex(in[0]), hex(in[op[1] == 'E' ? 0 : 1]));

		mas_lock(&mas);
		if (op[1] == 'G') {
			expect_code(line, mas_store_gfp(&mas, entry_of(in[2]), GFP_KERNEL));
		} else if (op[1] == 'P') {
			if (mas_preallocate(&mas, entry_of(in[2]), GFP_KERNEL) != 0)
				bad("no memory");
			mas_store_prealloc(&mas, entry_of(in[2]));
			expect(line, !mas_is_err(&mas), "error", 1);
		} else {
			entry = op[1] == 'S' ? mas_store(&mas, entry_of(in[2])) : mas_erase(&mas);
			if (strcmp(line->answer[0], "?") != 0)
				expect_entry(line, entry);
		}
		mas_unlock(&mas);
		if (op[1] == 'P' && !line->loose) {
			expect_index(line, 0, mas.index);
			expect_index(line, 1, mas.last);
		} else if (op[1] != 'P') {
			expect_range(line, &mas);
		}
		return true;
	}
	default:
		if (step_of(op[1]) == NULL)
			return false;
		rcu_read_lock();
		expect_moved(line, step_of(op[1])(&kept, hex(in[0])));
		rcu_read_unlock();
		return true;
	}
}

static void expect_digest(const struct line *line, int field, uint64_t hash)
{
	expect(line, hash == hex(line->answer[field]), "digest", hash);
}

/* Many operations at once. */
static bool block(const struct line *line, const char *op, struct maple_tree *mt)
{
	char *const *in = line->field;
	unsigned long index, limit, n, i, value, count = 0;
	uint64_t hash = DIGEST;

	if (op[0] == '\0' || op[1] != '\0' || strchr("LEFBGCS", op[0]) == NULL)
		return false;
	index = hex(in[0]);
	if (op[0] == 'S') {
		n = number(in[3], 10);
		value = number(in[4], 10);
		for (i = 0; i < n; i++, index += hex(in[1])) {
			int code = mtree_store_range(mt, index, index + hex(in[2]) - 1,
						     xa_mk_value((value + i - 1) % 9999 + 1), GFP_KERNEL);

			expect(line, code == 0, "code", (unsigned long)code);
		}
		return true;
	}
	n = number(in[2], 10);
	if (op[0] == 'L' || op[0] == 'E') {
		for (i = 0; i < n; i++, index += hex(in[1]))
			digest(&hash, word_of(op[0] == 'L' ? mtree_load(mt, index) : mtree_erase(mt, index)));
		expect_digest(line, 0, hash);
		return true;
	}
	limit = hex(in[1]);
	{
		MA_STATE(mas, mt, index, index);
		bool gaps = op[0] == 'G' || op[0] == 'C', up = op[0] == 'F' || op[0] == 'G';
		step_fn *step = step_of(op[0] == 'F' ? 'f' : op[0] == 'G' ? 'F' : op[0] == 'B' ? 'v' : 'V');

		rcu_read_lock();
		while (n == 0 || count < n) {
			void *entry = step(&mas, limit);

			if (gaps ? !mas_is_active(&mas) : entry == NULL)
				break;
			count++;
			digest(&hash, mas.index);
			digest(&hash, mas.last);
			digest(&hash, word_of(entry));
			if (up ? mas.last >= limit : mas.index <= limit)
				break;
		}
		rcu_read_unlock();
	}
	expect(line, count == number(line->answer[0], 10), "count", count);
	expect_digest(line, 1, hash);
	return true;
}

static void content(const struct line *line, struct maple_tree *mt)
{
	MA_STATE(mas, mt, 0, 0);
	unsigned long count = 0;
	uint64_t hash = DIGEST;
	void *entry;

	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX) {
		count++;
		digest(&hash, mas.index);
		digest(&hash, mas.last);
		digest(&hash, word_of(entry));
	}
	rcu_read_unlock();
	expect(line, count == number(line->field[0], 10), "count", count);
	expect(line, hash == hex(line->field[1]), "digest", hash);
	expect(line, mtree_empty(mt) == (count == 0), "empty", mtree_empty(mt));
	mt_validate(mt);
}

static void run(const struct line *line, const char *op)
{
	char *const *in = line->field;

	if (strcmp(op, "t") == 0) {
		current = (unsigned int)number(in[0], 10);
		tree(current);
	} else if (strcmp(op, "d") == 0) {
		expect_code(line, mtree_dup(tree(number(in[0], 10)), tree(number(in[1], 10)), GFP_KERNEL));
	} else if (strcmp(op, "x") == 0) {
		mtree_destroy(tree(number(in[0], 10)));
		exists[number(in[0], 10)] = false;
	} else if (strcmp(op, "c") == 0) {
		content(line, tree(current));
	} else if (strcmp(op, "|") != 0 && strcmp(op, "h") != 0 && !plain(line, op, tree(current)) &&
		   !cursor(line, op, tree(current)) && !block(line, op, tree(current))) {
		bad("unknown operation");
	}
}

static void flip_flags(void)
{
	unsigned int id;

	initial_flags ^= MT_FLAGS_USE_RCU;
	for (id = 0; id < TREES; id++) {
		if (!exists[id])
			continue;
		(initial_flags & MT_FLAGS_USE_RCU ? mt_set_in_rcu : mt_clear_in_rcu)(&trees[id]);
		MT_BUG_ON(&trees[id], mt_in_rcu(&trees[id]) != ((initial_flags & MT_FLAGS_USE_RCU) != 0));
	}
}

static void header(const char *text)
{
	unsigned int flag;

	if (sscanf(text, "# alloc_tree %u", &flag) == 1 && flag)
		initial_flags |= MT_FLAGS_ALLOC_RANGE;
	if (sscanf(text, "# rcu_flag %u", &flag) == 1 && flag)
		initial_flags |= MT_FLAGS_USE_RCU;
}

int main(int argc, char **argv)
{
	static char text[65536], copy[65536];
	bool flip = argc > 2 && strcmp(argv[2], "flip") == 0;
	unsigned long ops = 0, flips = 0, id;

	while (fgets(text, sizeof(text), stdin) != NULL) {
		struct line line = { copy, { NULL }, { NULL }, false };
		char **into = line.field, *word, *op = NULL;
		int fields = 0;

		line_number++;
		text[strcspn(text, "\n")] = '\0';
		if (text[0] == '#') {
			header(text);
			continue;
		}
		memcpy(copy, text, strlen(text) + 1);
		for (word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
			if (op == NULL) {
				op = word;
			} else if (strcmp(word, "=") == 0) {
				into = line.answer;
				fields = 0;
			} else if (strcmp(word, "~") == 0) {
				line.loose = true;
			} else if (fields == FIELDS) {
				bad("too many fields");
			} else {
				into[fields++] = word;
			}
		}
		if (op == NULL)
			bad("an empty line");
		run(&line, op);
		ops++;
		if (flip && ops % FLIP_LINES == 0) {
			flip_flags();
			flips++;
		}
	}
	for (id = 0; id < TREES; id++)
		if (exists[id])
			mtree_destroy(&trees[id]);
	rcu_barrier();
	printf("%s: %lu lines, %lu answers compared, %lu mismatches, %lu of %lu checks of trees failed\n",
	       argc > 1 ? argv[1] : "log", ops, compared, mismatches, fhk_tests_failed(), fhk_tests_run());
	return ops == 0 || (flip && flips < 2) || mismatches != 0 || fhk_tests_failed() != 0;
}
