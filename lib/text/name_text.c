/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name_text - domain names as people write them.
 *
 * The reasons are written for the one who typed the name: they say which
 * part is wrong and what would be right.
 */
#include "lib/text/name_text.h"

#include <idn2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"

#define SHOWN_MAX 80 /* octets of the user's text in a reason */
#define INPUT_MAX 1024

static bool refuse(char *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool
refuse(char *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, TEXT_ERROR_MAX, format, args);
	va_end(args);
	return false;
}

static int
shown(size_t len)
{
	return (int)(len < SHOWN_MAX ? len : SHOWN_MAX);
}

static bool
is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* Why dname_from_text() did not take a text. */
static bool
explain_ascii(const char *text, size_t len, char *reason)
{
	size_t start = 0;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return refuse(reason, "the name is empty");
	for (size_t i = 0; i <= len; i++) {
		if (i < len &&
		    (text[i] <= ' ' || text[i] > '~' || text[i] == '\\'))
			return refuse(reason,
			    "\"%.*s\" has an octet that no name has",
			    shown(len), text);
		if (i < len && text[i] != '.')
			continue;
		if (i == start)
			return refuse(reason,
			    "\"%.*s\" has an empty label; write one dot "
			    "between labels",
			    shown(len), text);
		if (i - start > DNS_LABEL_MAX)
			return refuse(reason,
			    "a label of %zu octets; at most %d are allowed "
			    "between dots",
			    i - start, DNS_LABEL_MAX);
		start = i + 1;
	}
	return refuse(reason,
	    "a name of %zu octets on the wire; at most %d are allowed", len + 2,
	    DNS_NAME_MAX);
}

/* Through IDNA 2008, then as if it had been written so. */
static bool
read_unicode(const char *text, size_t len, struct dname *ret, char *reason)
{
	char input[INPUT_MAX];
	uint8_t *ascii = NULL;
	bool good;
	int rc;

	if (len >= sizeof(input))
		return refuse(reason, "a name of %zu octets is too long", len);
	memcpy(input, text, len);
	input[len] = '\0';
	rc = idn2_lookup_u8((const uint8_t *)input, &ascii,
	    IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (rc != IDN2_OK)
		return refuse(reason, "\"%.*s\" is not a name of IDNA 2008: %s",
		    shown(len), text, idn2_strerror(rc));
	good = dname_from_text((char *)ascii, strlen((char *)ascii), ret);
	if (!good)
		explain_ascii((char *)ascii, strlen((char *)ascii), reason);
	idn2_free(ascii);
	return good;
}

bool
text_name_read(const char *text, size_t len, struct dname *ret,
    char *ret_reason)
{
	if (!is_ascii(text, len))
		return read_unicode(text, len, ret, ret_reason);
	if (dname_from_text(text, len, ret))
		return true;
	return explain_ascii(text, len, ret_reason);
}

/* Whether inet_aton() or a URL parser would take a label that ends a name
 * for the last part of an address. */
static bool
is_numeric(const uint8_t *label, uint8_t len)
{
	uint8_t i = 0;
	bool hex = len >= 2 && label[0] == '0' && label[1] == 'x';

	for (i = hex ? 2 : 0; i < len; i++) {
		bool digit = label[i] >= '0' && label[i] <= '9';
		bool letter = label[i] >= 'a' && label[i] <= 'f';

		if (!digit && !(hex && letter))
			return false;
	}
	return true;
}

static bool
refuse_host(const char *text, size_t len, char *reason)
{
	return refuse(reason,
	    "\"%.*s\" is no host name; write a-z, 0-9, \"-\" and \"_\" "
	    "between dots",
	    shown(len), text);
}

bool
text_rule_name_check(enum rule_kind kind, const struct dname *name,
    char *ret_reason)
{
	char text[DNAME_TEXT_MAX];
	size_t size = dname_print(name, text);
	const uint8_t *label;
	uint8_t len;

	if (name->labels == 0)
		return refuse(ret_reason, "the root is no name of a host");
	if (strstr(text, "\\042") != NULL) /* a star, as printed */
		return refuse(ret_reason,
		    "a star stands at the front alone: write \"*.NAME\" for "
		    "one label more, \"**.NAME\" for any number");
	if (!dname_is_host(name))
		return refuse_host(text, size, ret_reason);
	label = dname_label(name, (uint8_t)(name->labels - 1), &len);
	if (is_numeric(label, len))
		return refuse(ret_reason,
		    "\"%.*s\" could be read as an address; a rule is about a "
		    "name (one with \"addresses\" where no server knows it)",
		    shown(size), text);
	if (kind == RULE_EXACT && name->labels == 1)
		return refuse(ret_reason,
		    "\"%.*s\" is a single label; write the whole name, such "
		    "as %.*s.example.com",
		    shown(size), text, shown(size), text);
	return true;
}

bool
text_rule_name_read(const char *text, size_t len, enum rule_kind *ret_kind,
    struct dname *ret, char *ret_reason)
{
	enum rule_kind kind = RULE_EXACT;

	if (len >= 3 && memcmp(text, "**.", 3) == 0) {
		kind = RULE_BELOW;
		text += 3;
		len -= 3;
	} else if (len >= 2 && memcmp(text, "*.", 2) == 0) {
		kind = RULE_CHILD;
		text += 2;
		len -= 2;
	}
	if (!text_name_read(text, len, ret, ret_reason))
		return false;
	if (!dname_is_host(ret) && memchr(text, '*', len) == NULL)
		return refuse_host(text, len, ret_reason);
	if (!text_rule_name_check(kind, ret, ret_reason))
		return false;
	*ret_kind = kind;
	return true;
}
