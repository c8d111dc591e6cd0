/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time of an event: UTC, to the millisecond.
 */
#include "lib/event_parts.h"

static void
put_padded(struct cursor *c, uint64_t value, int width)
{
	uint64_t unit = 1;

	for (int i = 1; i < width; i++)
		unit *= 10;
	for (; unit > 0; unit /= 10)
		cursor_put_u8(c, (uint8_t)('0' + value / unit % 10));
}

struct date {
	uint64_t year;
	unsigned month, day;
};

/*
 * Days since 1970 to a date of the Gregorian calendar. The year is taken to
 * begin in March, so that the odd day is the last of its year; an era is 400
 * years, after which everything repeats.
 */
static struct date
date_of(uint64_t days_1970)
{
	const uint64_t era_days = 146097, to_1970 = 719468;
	uint64_t days = days_1970 + to_1970;
	uint64_t era = days / era_days, rest = days % era_days;
	uint64_t year =
	    (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
	unsigned in_year =
	    (unsigned)(rest - (365 * year + year / 4 - year / 100));
	unsigned march = (5 * in_year + 2) / 153;
	struct date d = { .year = year + era * 400,
		.month = march < 10 ? march + 3 : march - 9,
		.day = in_year - (153 * march + 2) / 5 + 1 };

	d.year += d.month <= 2;
	return d;
}

void
event_put_time(struct cursor *c, uint64_t wall_ms)
{
	const uint64_t day_ms = 86400000, last_ms = 253402300799999;
	uint64_t ms = wall_ms > last_ms ? last_ms : wall_ms;
	struct date d = date_of(ms / day_ms);
	uint64_t in_day = ms % day_ms;

	put_padded(c, d.year, 4);
	cursor_put_u8(c, '-');
	put_padded(c, d.month, 2);
	cursor_put_u8(c, '-');
	put_padded(c, d.day, 2);
	cursor_put_u8(c, 'T');
	put_padded(c, in_day / 3600000, 2);
	cursor_put_u8(c, ':');
	put_padded(c, in_day / 60000 % 60, 2);
	cursor_put_u8(c, ':');
	put_padded(c, in_day / 1000 % 60, 2);
	cursor_put_u8(c, '.');
	put_padded(c, in_day % 1000, 3);
	cursor_put_u8(c, 'Z');
}
