/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget_warm - the least that has to stand in front of a ledger: answers are
 * kept, and questions that were paid are kept warm.
 */
#ifndef TESTS_UNIT_BUDGET_WARM_H
#define TESTS_UNIT_BUDGET_WARM_H

#include "lib/budget.h"

/* One thing to ask: a name and its type, of one key. */
struct warm_question {
	const struct dname *name;
	uint32_t key;
	uint8_t labels, type, type_count;
	uint64_t known_ms; /* its answer is known until then */
	uint64_t warm_ms; /* it is refreshed until then; 0: it is not */
	bool asked; /* while it was warm */
};

struct warm {
	struct budget *budget;
	struct warm_question *questions;
	uint32_t count;
	uint64_t keep_ms; /* `bounds.warm`; 0: nothing is kept warm */
	uint64_t life_ms; /* of an answer that is not refreshed */
	uint32_t *queue; /* of warm ones, by the end of that; `count` of them */
	uint32_t head, length;
	uint64_t paid, stayed, lapsed, refused, free;
};

/* A client asks. Times must not go back. False: it was refused. */
bool warm_ask(struct warm *, uint32_t question, uint64_t now_ms);

#endif
