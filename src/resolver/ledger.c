/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger - see ledger.h. Of the file: two copies of the header, then two of
 * each place of lib/budget.h.
 */
#include "config.h"

#include "src/resolver/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "src/resolver/log.h"

#define COPIES 2

_Static_assert(BUDGET_RECORD_SIZE <= RECORDS_BODY, "a record fits");
_Static_assert(BUDGET_HEADER_SIZE <= RECORDS_BODY, "a header fits");

/*
 * The time of day, or 0 where nobody keeps it in step: then hours that the
 * host was off do not count, and what was spent stays spent for longer. A
 * clock that was set by hand could end a day at once.
 */
static uint64_t
wall_ms(void)
{
	struct timex state = { .modes = 0 };
	struct timespec now;
	int r = adjtimex(&state);

	if (r < 0 || r == TIME_ERROR || (state.status & STA_UNSYNC) != 0)
		return 0;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint32_t
header_place(const struct ledger *l)
{
	return budget_places(l->budget);
}

/* The header stands first. */
static void
write_copy(struct ledger *l, uint32_t place, const uint8_t body[RECORDS_BODY])
{
	uint32_t first = place == header_place(l) ? 0 : COPIES + place * COPIES;

	records_write(&l->file, first + l->turn[place], body);
	l->turn[place] = (uint8_t)((l->turn[place] + 1) % COPIES);
}

static void
write_header(struct ledger *l, bool clean, uint64_t now_ms)
{
	uint8_t body[RECORDS_BODY] = { 0 };

	budget_header(l->budget, clean, now_ms, wall_ms(), body);
	write_copy(l, header_place(l), body);
}

static void
write_place(struct ledger *l, uint32_t place)
{
	uint8_t body[RECORDS_BODY] = { 0 };

	budget_record(l->budget, place, body);
	write_copy(l, place, body);
}

/* What is free has no record; what was there and is over may stay. */
static void
write_all(struct ledger *l)
{
	static const uint8_t NOTHING[BUDGET_RECORD_SIZE];
	uint8_t record[BUDGET_RECORD_SIZE];

	for (uint32_t i = 0; i < budget_places(l->budget); i++) {
		budget_record(l->budget, i, record);
		if (memcmp(record, NOTHING, sizeof(record)) != 0)
			write_place(l, i);
	}
}

static bool
sync_disk(struct ledger *l)
{
	int r = records_sync(&l->file);

	if (r != 0 && !l->failed)
		log_error("ledger",
		    "the disk does not take what was spent: %s; a host that "
		    "stops now forgets some of it",
		    strerror(-r));
	l->failed = r != 0;
	return r == 0;
}

/* Whether the records of the last run have nothing missing. In the same boot
 * they never have. */
static bool
resume(struct ledger *l, uint64_t now_ms)
{
	const uint8_t *body;
	uint32_t index = 0;
	bool clean = false;

	for (int i = 0; i < COPIES; i++) {
		body = records_next(&l->file, &index);
		if (body != NULL &&
		    budget_resume(l->budget, body, l->file.same_boot, now_ms,
			wall_ms(), &clean))
			break;
	}
	return clean || l->file.same_boot;
}

static int
restore(struct ledger *l, uint64_t now_ms)
{
	bool clean = resume(l, now_ms);
	uint32_t index = 0, count;
	const uint8_t *body;
	int r;

	while ((body = records_next(&l->file, &index)) != NULL) {
		r = budget_restore(l->budget, body, clean);
		if (r == -ENOSPC) {
			log_error("ledger",
			    "the state remembers more budgets than "
			    "limits.budget_keys has room for; raise it");
			return r;
		}
	}
	count = table_in_use(&l->budget->keys);
	if (count > 0)
		log_info("ledger", "%" PRIu32 " budgets on record%s", count,
		    clean ? "" : ", of a host that was cut short");
	return 0;
}

int
ledger_open(struct ledger *l, struct budget *budget, int dir,
    const char *boot_id, uint64_t now_ms)
{
	uint32_t places = budget_places(budget);
	int r;

	*l = (struct ledger){ .budget = budget };
	l->turn = calloc((size_t)places + 1, sizeof(*l->turn));
	if (l->turn == NULL)
		return -ENOMEM;
	r = records_open(&l->file, dir, LEDGER_FILE, boot_id,
	    (places + 1) * COPIES);
	if (r == 0)
		r = restore(l, now_ms);
	if (r != 0)
		return r;
	write_header(l, false, now_ms);
	write_all(l);
	if (sync_disk(l))
		for (uint32_t i = 0; i < places; i++)
			budget_saved(budget, i);
	return 0;
}

/* The name has to be on the disk too, or a host that stops would find the old
 * file again, which says that nothing was spent after it. */
int
ledger_settle(struct ledger *l)
{
	int r = records_settle(&l->file);

	if (r != 0)
		return r;
	return fsync(l->file.dir) == 0 ? 0 : -errno;
}

void
ledger_charged(struct ledger *l, uint32_t key, uint64_t now_ms)
{
	bool to_disk = budget_must_save(l->budget, key) != 0;
	uint32_t place[BUDGET_LEVELS];

	for (int i = 0; i < BUDGET_LEVELS; i++) {
		place[i] = budget_place(l->budget, key, (enum budget_level)i);
		write_place(l, place[i]);
	}
	write_header(l, false, now_ms);
	if (!to_disk || !sync_disk(l))
		return;
	for (int i = 0; i < BUDGET_LEVELS; i++)
		budget_saved(l->budget, place[i]);
}

void
ledger_close(struct ledger *l, uint64_t now_ms)
{
	if (l->file.map != NULL) {
		write_all(l);
		if (sync_disk(l)) {
			for (int i = 0; i < COPIES; i++)
				write_header(l, true, now_ms);
			(void)sync_disk(l);
		}
	}
	records_close(&l->file);
	free(l->turn);
	l->turn = NULL;
}
