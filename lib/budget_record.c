/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Meters as octets on disk, and the clock that goes on over boots.
 *
 * A record:                          The header:
 *   0   8 checksum of the rest         0   8 checksum of the rest
 *   8   4 "nwB1"                       8   4 "nwH1"
 *  12   1 enum budget_level           12   1 1: closed cleanly
 *  13   1 1: open                     13   3 zero
 *  14   2 zero                        16   8 the ledger's clock, ms
 *  16   4 limit                       24   8 now_ms of then
 *  20   4 what may follow             32   8 wall_ms of then, or 0
 *  24   4 hour that runs              40   8 zero
 *  28   8 closed or opened, ms
 *  36  32 id
 *  68 300 slots: by part, by hour modulo 25
 *
 * Only what was spent is kept. What a key has learnt, its tables of names
 * above all, is not: their hashes are keyed anew in each run. A run that
 * begins with empty tables prices by a proper code as well, whose beginning
 * the outside may know. But that nothing more came under the old one tells
 * something, so its end is paid at each start, as it is at the end of a day.
 */
#include "lib/budget.h"
#include "lib/budget_parts.h"

#include <errno.h>
#include <string.h>

#include "lib/cursor.h"
#include "lib/require.h"

#define CHECKSUM_SIZE 8
#define RECORD_MAGIC  UINT32_C(0x6e774231)
#define HEADER_MAGIC  UINT32_C(0x6e774831)

_Static_assert(68 + 4 * METER_PARTS * METER_SLOTS <= BUDGET_RECORD_SIZE,
    "a record holds all slots");

/* What a record says. */
struct record {
	enum budget_level level;
	bool open;
	uint32_t allowance;
	uint64_t at_ms;
	struct budget_id id;
	struct meter meter;
};

static void
put_u64(struct cursor *c, uint64_t value)
{
	cursor_put_u32(c, (uint32_t)(value >> 32));
	cursor_put_u32(c, (uint32_t)value);
}

static uint64_t
get_u64(struct cursor *c)
{
	uint64_t high = cursor_u32(c);

	return high << 32 | cursor_u32(c);
}

static uint64_t
checksum(const uint8_t *octets, size_t size)
{
	static const uint8_t PUBLIC[16] = { 0 };

	return crp_hash(octets + CHECKSUM_SIZE, size - CHECKSUM_SIZE, PUBLIC);
}

static void
seal(uint8_t *octets, size_t size)
{
	uint64_t sum = checksum(octets, size);

	memcpy(octets, &sum, CHECKSUM_SIZE);
}

static bool
is_whole(const uint8_t *octets, size_t size, uint32_t magic)
{
	struct cursor c = cursor_read_of(octets, size);
	uint64_t sum = checksum(octets, size);

	cursor_skip(&c, CHECKSUM_SIZE);
	return memcmp(octets, &sum, CHECKSUM_SIZE) == 0 &&
	    cursor_u32(&c) == magic;
}

uint32_t
budget_places(const struct budget *budget)
{
	return budget->keys.capacity + budget->sums.capacity;
}

uint32_t
budget_place(const struct budget *budget, uint32_t slot,
    enum budget_level level)
{
	if (level == BUDGET_KEY)
		return slot;
	return budget->keys.capacity + budget->key[slot].sum[level - 1];
}

static bool
is_taken(const struct table *table, uint32_t slot)
{
	return slot < table->capacity && table->older[slot] != slot;
}

static void
print_record(const struct record *record, uint8_t *ret)
{
	struct cursor c = cursor_write_of(ret, BUDGET_RECORD_SIZE);
	const struct meter *meter = &record->meter;

	memset(ret, 0, BUDGET_RECORD_SIZE);
	cursor_skip(&c, CHECKSUM_SIZE);
	cursor_put_u32(&c, RECORD_MAGIC);
	cursor_put_u8(&c, (uint8_t)record->level);
	cursor_put_u8(&c, record->open);
	cursor_skip(&c, 2);
	cursor_put_u32(&c, meter->limit);
	cursor_put_u32(&c, record->allowance);
	cursor_put_u32(&c, meter->hour);
	put_u64(&c, record->at_ms);
	cursor_put_bytes(&c, &record->id, sizeof(record->id));
	for (int part = 0; part < METER_PARTS; part++) {
		for (int i = 0; i < METER_SLOTS; i++)
			cursor_put_u32(&c, meter->slot[part][i]);
	}
	REQUIRE(!c.error);
	seal(ret, BUDGET_RECORD_SIZE);
}

void
budget_record(const struct budget *budget, uint32_t place,
    uint8_t ret[BUDGET_RECORD_SIZE])
{
	const struct table *table = &budget->keys;
	struct record record = { 0 };
	uint32_t slot = place;

	memset(ret, 0, BUDGET_RECORD_SIZE);
	if (place >= budget->keys.capacity) {
		table = &budget->sums;
		slot = place - budget->keys.capacity;
	}
	if (!is_taken(table, slot))
		return;
	memcpy(&record.id, table_key(table, slot), sizeof(record.id));
	if (table == &budget->keys) {
		record.meter = budget->key[slot].meter;
		record.open = budget->key[slot].open;
		record.at_ms = budget->key[slot].closed_ms;
	} else {
		record.meter = budget->sum[slot].meter;
		record.level = (enum budget_level)budget->sum[slot].level;
		record.at_ms = budget->sum[slot].opened_ms;
	}
	record.allowance = meter_allowance(&record.meter);
	print_record(&record, ret);
}

void
budget_saved(struct budget *budget, uint32_t place)
{
	if (place < budget->keys.capacity)
		meter_saved(&budget->key[place].meter);
	else if (place < budget_places(budget))
		meter_saved(&budget->sum[place - budget->keys.capacity].meter);
}

static void
read_record(const uint8_t *octets, struct record *ret)
{
	struct cursor c = cursor_read_of(octets, BUDGET_RECORD_SIZE);
	struct meter *meter = &ret->meter;

	memset(ret, 0, sizeof(*ret));
	cursor_skip(&c, CHECKSUM_SIZE + 4);
	ret->level = (enum budget_level)cursor_u8(&c);
	ret->open = cursor_u8(&c) != 0;
	cursor_skip(&c, 2);
	meter->limit = cursor_u32(&c);
	ret->allowance = cursor_u32(&c);
	meter->hour = cursor_u32(&c);
	ret->at_ms = get_u64(&c);
	cursor_bytes(&c, &ret->id, sizeof(ret->id));
	for (int part = 0; part < METER_PARTS; part++) {
		for (int i = 0; i < METER_SLOTS; i++) {
			meter->slot[part][i] = cursor_u32(&c);
			meter->used += meter->slot[part][i];
		}
	}
	REQUIRE(!c.error);
}

/* The ledger's clock is never behind what was recorded. */
static void
catch_up(struct budget *budget, uint32_t hour)
{
	uint64_t at_ms = (uint64_t)hour * METER_HOUR_MS;

	if (at_ms > budget->now_ms + budget->ahead_ms)
		budget->ahead_ms = at_ms - budget->now_ms;
}

/* Whether what it says is of no use any more. */
static bool
is_over(const struct budget *budget, const struct record *record)
{
	struct budget_key key = { .meter = record->meter };
	struct budget_sum sum = { .meter = record->meter };

	key.closed_ms = sum.opened_ms = record->at_ms;
	return record->level == BUDGET_KEY ? budget_key_is_over(budget, &key)
					   : budget_sum_is_over(budget, &sum);
}

static int
restore_key(struct budget *budget, const struct record *record)
{
	struct budget_key *key;
	uint32_t slot;
	bool is_new;

	slot = budget_claim_key(budget, &record->id, &is_new);
	if (slot == BUDGET_NONE)
		return -ENOSPC;
	key = &budget->key[slot];
	if (!is_new && key->meter.used >= record->meter.used)
		return 0;
	key->meter = record->meter;
	key->closed_ms = record->at_ms;
	return 0;
}

static int
restore_sum(struct budget *budget, const struct record *record)
{
	struct budget_sum *sum;
	uint32_t slot;
	bool is_new;

	slot = budget_claim_sum(budget, &record->id, &is_new);
	if (slot == BUDGET_NONE)
		return -ENOSPC;
	sum = &budget->sum[slot];
	if (!is_new && sum->meter.used >= record->meter.used)
		return 0;
	sum->meter = record->meter;
	sum->level = (uint8_t)record->level;
	sum->opened_ms = record->at_ms;
	return 0;
}

int
budget_restore(struct budget *budget, const uint8_t octets[BUDGET_RECORD_SIZE],
    bool clean)
{
	static const uint8_t NOTHING[BUDGET_RECORD_SIZE];
	struct record record;

	if (memcmp(octets, NOTHING, sizeof(NOTHING)) == 0)
		return -ENOENT;
	if (!is_whole(octets, BUDGET_RECORD_SIZE, RECORD_MAGIC))
		return -EBADMSG;
	read_record(octets, &record);
	catch_up(budget, record.meter.hour);
	meter_advance(&record.meter, budget_hour(budget, 0));
	/* A key that was open is closed from now on, until it is opened. */
	if (record.open)
		record.at_ms = budget_clock(budget, 0);
	/* After a crash nobody knows what was spent since the record. */
	if (clean && is_over(budget, &record))
		return -ENOENT;
	/* What was learnt is gone, so that history has ended, and its end is
	 * paid. Nothing may follow until there is a record of this run. */
	if (record.level == BUDGET_KEY)
		meter_spend(&record.meter, METER_TIME, METER_END);
	if (!clean)
		meter_spend(&record.meter, METER_TIME, record.allowance);
	record.meter.unsaved = 0;
	record.meter.allowance = 0;
	return record.level == BUDGET_KEY ? restore_key(budget, &record)
					  : restore_sum(budget, &record);
}

void
budget_header(const struct budget *budget, bool clean, uint64_t now_ms,
    uint64_t wall_ms, uint8_t ret[BUDGET_HEADER_SIZE])
{
	struct cursor c = cursor_write_of(ret, BUDGET_HEADER_SIZE);

	if (now_ms < budget->now_ms)
		now_ms = budget->now_ms;
	memset(ret, 0, BUDGET_HEADER_SIZE);
	cursor_skip(&c, CHECKSUM_SIZE);
	cursor_put_u32(&c, HEADER_MAGIC);
	cursor_put_u8(&c, clean);
	cursor_skip(&c, 3);
	put_u64(&c, now_ms + budget->ahead_ms);
	put_u64(&c, now_ms);
	put_u64(&c, wall_ms);
	REQUIRE(!c.error);
	seal(ret, BUDGET_HEADER_SIZE);
}

static uint64_t
elapsed(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms > from_ms ? to_ms - from_ms : 0;
}

bool
budget_resume(struct budget *budget, const uint8_t header[BUDGET_HEADER_SIZE],
    bool same_boot, uint64_t now_ms, uint64_t wall_ms, bool *ret_clean)
{
	struct cursor c = cursor_read_of(header, BUDGET_HEADER_SIZE);
	uint64_t clock_ms, then_ms, then_wall_ms;

	(void)budget_clock(budget, now_ms);
	*ret_clean = false;
	if (!is_whole(header, BUDGET_HEADER_SIZE, HEADER_MAGIC))
		return false;
	cursor_skip(&c, CHECKSUM_SIZE + 4);
	*ret_clean = cursor_u8(&c) != 0;
	cursor_skip(&c, 3);
	clock_ms = get_u64(&c);
	then_ms = get_u64(&c);
	then_wall_ms = get_u64(&c);
	if (same_boot)
		clock_ms += elapsed(then_ms, now_ms);
	else if (then_wall_ms != 0)
		clock_ms += elapsed(then_wall_ms, wall_ms);
	budget->ahead_ms = clock_ms - budget->now_ms;
	return true;
}
