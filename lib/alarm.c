/* SPDX-License-Identifier: BSD-2-Clause */
/* alarm - whether a stream of names has the shape of a tunnel. */
#include "lib/alarm.h"

#include <string.h>

#include "lib/model.h"

/* S does not grow beyond this, nor V, so that no sum overflows: the longest
 * name adds less than 2^20. */
#define AMOUNT_MAX (1 << 30)

void
alarm_weigh(struct alarm_weight *weight, uint32_t lm, uint32_t uniform)
{
	weight->score += (int32_t)lm - (int32_t)uniform - MODEL_MIXTURE_PRICE;
	weight->volume += MODEL_MIXTURE_PRICE + (lm < uniform ? lm : uniform);
	weight->is_new = true;
}

bool
alarm_knows(struct alarm *alarm, uint64_t label_hash)
{
	uint32_t i = 0;
	bool known;

	while (i < ALARM_LABELS - 1 && alarm->asked[i] != label_hash)
		i++;
	known = alarm->asked[i] == label_hash;
	memmove(alarm->asked + 1, alarm->asked, i * sizeof(alarm->asked[0]));
	alarm->asked[0] = label_hash;
	return known;
}

bool
alarm_observe(struct alarm *alarm, const struct alarm_weight *weight,
    uint32_t budget)
{
	if (!weight->is_new) {
		alarm->nrep++;
		return false;
	}
	alarm->nnew++;
	alarm->cusum += weight->score - ALARM_DRIFT * ALARM_BIT;
	if (alarm->cusum <= 0) {
		alarm->cusum = 0;
		alarm->volume = 0;
		return false;
	}
	alarm->volume += weight->volume;
	if (alarm->cusum > AMOUNT_MAX)
		alarm->cusum = AMOUNT_MAX;
	if (alarm->volume > AMOUNT_MAX)
		alarm->volume = AMOUNT_MAX;
	return alarm->cusum > ALARM_SCORE * ALARM_BIT &&
	    alarm->volume >= budget / ALARM_SHARE;
}
