/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/meter.h"

#include <string.h>

#include "lib/require.h"

void
meter_limit(struct meter *meter, uint32_t limit)
{
	meter->limit = limit;
}

static void
clear_hour(struct meter *meter, uint32_t hour)
{
	uint32_t *slot;

	for (int part = 0; part < METER_PARTS; part++) {
		slot = &meter->slot[part][hour % METER_SLOTS];
		meter->used -= *slot;
		*slot = 0;
	}
}

void
meter_advance(struct meter *meter, uint32_t hour)
{
	if (hour <= meter->hour)
		return;
	if (hour - meter->hour >= METER_SLOTS) {
		memset(meter->slot, 0, sizeof(meter->slot));
		meter->used = 0;
		meter->hour = hour;
	}
	while (meter->hour < hour)
		clear_hour(meter, ++meter->hour);
	if (meter->used < meter->limit / 2)
		meter->half_told = false;
}

uint64_t
meter_part(const struct meter *meter, enum meter_part part, uint32_t hour)
{
	uint32_t passed = hour > meter->hour ? hour - meter->hour : 0;
	uint64_t sum = 0;

	/* The oldest `passed` slots are behind the window's end. */
	for (uint32_t age = 0; age + passed < METER_SLOTS; age++)
		sum += meter->slot[part][(meter->hour + METER_SLOTS - age) %
		    METER_SLOTS];
	return sum;
}

uint64_t
meter_used(const struct meter *meter, uint32_t hour)
{
	uint64_t sum = 0;

	if (hour <= meter->hour)
		return meter->used;
	for (int part = 0; part < METER_PARTS; part++)
		sum += meter_part(meter, (enum meter_part)part, hour);
	return sum;
}

uint64_t
meter_left(const struct meter *meter, uint32_t hour)
{
	uint64_t gone = meter_used(meter, hour) + METER_END;

	return gone >= meter->limit ? 0 : meter->limit - gone;
}

bool
meter_fits(const struct meter *meter, uint64_t cost)
{
	return cost <= meter_left(meter, meter->hour);
}

/* An amount that has no place is as good as any that leaves no room. */
static uint32_t
add(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void
meter_spend(struct meter *meter, enum meter_part part, uint32_t cost)
{
	uint32_t *slot, sum;

	REQUIRE(part < METER_PARTS);
	slot = &meter->slot[part][meter->hour % METER_SLOTS];
	sum = add(*slot, cost);
	meter->used += sum - *slot;
	*slot = sum;
	meter->unsaved = add(meter->unsaved, cost);
}

uint32_t
meter_allowance(const struct meter *meter)
{
	return meter->limit / METER_SHARE;
}

bool
meter_must_save(const struct meter *meter)
{
	uint32_t allowance = meter_allowance(meter);

	/* A limit may have been changed since the record was written. */
	if (allowance > meter->allowance)
		allowance = meter->allowance;
	return meter->unsaved > allowance;
}

void
meter_saved(struct meter *meter)
{
	meter->unsaved = 0;
	meter->allowance = meter_allowance(meter);
}

bool
meter_tell_half(struct meter *meter)
{
	if (meter->half_told || meter->used < meter->limit / 2)
		return false;
	meter->half_told = true;
	return true;
}

bool
meter_tell_refused(struct meter *meter, uint32_t *ret_count)
{
	meter->refused = add(meter->refused, 1);
	if (meter->told_hour == meter->hour + 1)
		return false;
	meter->told_hour = meter->hour + 1;
	*ret_count = meter->refused;
	meter->refused = 0;
	return true;
}
