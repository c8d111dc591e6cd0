/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/budget_warm.h"

static void
keep(struct warm *w, uint32_t question, uint64_t until_ms)
{
	w->questions[question].warm_ms = until_ms;
	w->questions[question].asked = false;
	w->queue[(w->head + w->length++) % w->count] = question;
}

/* The ends of warm times that have come. */
static void
let_lapse(struct warm *w, uint64_t now_ms)
{
	struct budget_result result;
	struct warm_question *q;
	uint32_t at;

	while (w->length > 0) {
		at = w->queue[w->head];
		q = &w->questions[at];
		if (q->warm_ms > now_ms)
			return;
		w->head = (w->head + 1) % w->count;
		w->length--;
		if (budget_charge_stay(w->budget, q->key, q->asked, q->warm_ms,
			&result)) {
			w->stayed++;
			keep(w, at, q->warm_ms + w->keep_ms);
		} else {
			w->lapsed++;
			q->warm_ms = 0;
		}
	}
}

bool
warm_ask(struct warm *w, uint32_t question, uint64_t now_ms)
{
	struct warm_question *q = &w->questions[question];
	struct budget_event event = { q->name, q->labels, q->type,
		q->type_count, 1 };
	struct budget_result result;

	let_lapse(w, now_ms);
	if (q->warm_ms != 0 || q->known_ms > now_ms) {
		q->asked = true;
		w->free++;
		return true;
	}
	if (budget_charge(w->budget, q->key, &event, now_ms, &result) !=
	    BUDGET_PAY) {
		w->refused++;
		return false;
	}
	w->paid++;
	q->known_ms = now_ms + w->life_ms;
	if (w->keep_ms != 0)
		keep(w, question, now_ms + w->keep_ms);
	return true;
}
