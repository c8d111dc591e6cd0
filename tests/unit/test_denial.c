/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/denial.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

/* What a client gets, as the contract's table has it. */
static const struct {
	enum denial denial;
	enum denial_style style;
	uint8_t rcode;
	bool soa;
	uint16_t ede;
	bool failure;
} forms[] = {
	{ DENIAL_MALFORMED, 0, 1, false, DNS_EDE_NONE, false },
	{ DENIAL_BAD_VERSION, 0, 0, false, DNS_EDE_NONE, false },
	{ DENIAL_OPCODE, 0, 4, false, DNS_EDE_NONE, false },
	{ DENIAL_CLASS, 0, 5, false, DNS_EDE_NONE, false },
	{ DENIAL_TRANSFER, 0, 5, false, DNS_EDE_NONE, false },
	{ DENIAL_UNKNOWN_SOURCE, 0, 5, false, 18, false },
	{ DENIAL_OVERLOAD, 0, 5, false, 18, true },
	{ DENIAL_UNLISTED, DENIAL_NXDOMAIN, 3, true, 15, false },
	{ DENIAL_UNLISTED, DENIAL_NODATA, 0, true, 15, false },
	{ DENIAL_UNLISTED, DENIAL_REFUSED, 5, false, 15, false },
	{ DENIAL_DENY_RULE, DENIAL_NXDOMAIN, 3, true, 15, false },
	{ DENIAL_DENY_RULE, DENIAL_NODATA, 0, true, 15, false },
	{ DENIAL_DENY_RULE, DENIAL_REFUSED, 5, false, 15, false },
	{ DENIAL_WITHDRAWN, DENIAL_NXDOMAIN, 3, true, 15, false },
	{ DENIAL_WITHDRAWN, DENIAL_NODATA, 0, true, 15, false },
	{ DENIAL_WITHDRAWN, DENIAL_REFUSED, 5, false, 15, false },
	{ DENIAL_PARENT, DENIAL_REFUSED, 0, true, 15, false },
	{ DENIAL_TYPE, DENIAL_REFUSED, 0, true, 15, false },
	{ DENIAL_FAMILY, DENIAL_REFUSED, 0, true, DNS_EDE_NONE, false },
	{ DENIAL_PROTECTED, DENIAL_REFUSED, 0, true, 15, false },
	{ DENIAL_UNPINNED, 0, 2, false, 0, true },
	{ DENIAL_UNPINNED_OTHER, 0, 0, true, 0, true },
	{ DENIAL_UPSTREAM_SILENT, 0, 2, false, 22, true },
	{ DENIAL_UPSTREAM_BROKEN, 0, 2, false, 23, true },
	{ DENIAL_UPSTREAM_OTHER, 0, 0, true, 23, true },
	{ DENIAL_NO_NAME, DENIAL_REFUSED, 3, true, DNS_EDE_NONE, true },
	{ DENIAL_NO_NAME_PARENT, 0, 0, true, DNS_EDE_NONE, true },
	{ DENIAL_NO_DATA, 0, 0, true, DNS_EDE_NONE, true },
	{ DENIAL_SPECIAL, DENIAL_REFUSED, 3, true, 15, false },
	{ DENIAL_SPECIAL_NODATA, 0, 0, true, DNS_EDE_NONE, false },
	{ DENIAL_PTR, 0, 3, true, DNS_EDE_NONE, false },
	{ DENIAL_QUARANTINED, DENIAL_NXDOMAIN, 3, true, 15, false },
	{ DENIAL_QUARANTINED, DENIAL_REFUSED, 5, false, 15, false },
	{ DENIAL_BUDGET, DENIAL_NXDOMAIN, 3, true, 15, false },
	{ DENIAL_BUDGET, DENIAL_NODATA, 0, true, 15, false },
};

START_TEST(forms_are_the_contract)
{
	bool seen[DENIAL_LAST + 1] = { false };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		enum denial denial = forms[i].denial;
		struct denial_form form =
		    denial_form_of(denial, forms[i].style);

		seen[denial] = true;
		ck_assert_msg(form.rcode == forms[i].rcode &&
			form.soa == forms[i].soa && form.ede == forms[i].ede,
		    "%s", denial_name(denial));
		ck_assert(form.badvers == (denial == DENIAL_BAD_VERSION));
		ck_assert(denial_is_failure(denial) == forms[i].failure);
	}
	for (int denial = DENIAL_DROP + 1; denial <= DENIAL_LAST; denial++)
		ck_assert_msg(seen[denial], "%d", denial);
}
END_TEST

START_TEST(texts_fit_and_say_something)
{
	for (int i = DENIAL_DROP + 1; i <= DENIAL_LAST; i++) {
		struct denial_form form =
		    denial_form_of((enum denial)i, DENIAL_NXDOMAIN);

		ck_assert_uint_le(strlen(form.text), 120);
		ck_assert((form.text[0] != '\0') == (form.ede != DNS_EDE_NONE));
	}
}
END_TEST

START_TEST(names_are_words_of_their_own)
{
	for (int i = 0; i <= DENIAL_LAST; i++) {
		const char *name = denial_name((enum denial)i);

		ck_assert(name[0] != '\0');
		for (const char *c = name; *c != '\0'; c++)
			ck_assert(islower((unsigned char)*c) || *c == '-');
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(name, denial_name((enum denial)j));
	}
	ck_assert_str_eq(denial_name(DENIAL_UNLISTED), "unlisted");
	ck_assert_str_eq(denial_name(DENIAL_DENY_RULE), "deny-rule");
}
END_TEST

START_TEST(form_of_none)
{
	denial_form_of(DENIAL_NONE, DENIAL_NXDOMAIN);
}
END_TEST

START_TEST(form_of_drop)
{
	denial_form_of(DENIAL_DROP, DENIAL_NXDOMAIN);
}
END_TEST

START_TEST(name_beyond_last)
{
	denial_name((enum denial)(DENIAL_LAST + 1));
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("denial", &all);

	tcase_add_test(all, forms_are_the_contract);
	tcase_add_test(all, texts_fit_and_say_something);
	tcase_add_test(all, names_are_words_of_their_own);
	tcase_add_test_raise_signal(all, form_of_none, SIGABRT);
	tcase_add_test_raise_signal(all, form_of_drop, SIGABRT);
	tcase_add_test_raise_signal(all, name_beyond_last, SIGABRT);
	unit_covers("G95");
	return unit_run(suite);
}
