# SPDX-License-Identifier: BSD-2-Clause
# C sources, line by line: sizes, parameters, comments, banned calls.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}

# Columns, with tabs of 8 and UTF-8 characters of 1.
function width(line,    columns, part, count, i, parts)
{
	gsub(/[\200-\277]/, "", line)
	count = split(line, parts, "\t")
	for (i = 1; i <= count; i++) {
		columns += length(parts[i])
		if (i < count)
			columns += 8 - columns % 8
	}
	return columns
}

# The line without comments, and with empty strings and characters. Sets
# in_comment, and slashes where a // comment begins.
function code_of(line,    out, token, at)
{
	slashes = 0
	out = ""
	for (;;) {
		if (in_comment) {
			at = index(line, "*/")
			if (at == 0)
				return out
			line = substr(line, at + 2)
			in_comment = 0
		}
		if (!match(line, /["']|\/\*|\/\//))
			return out line
		out = out substr(line, 1, RSTART - 1)
		token = substr(line, RSTART, 1)
		line = substr(line, RSTART)
		if (token == "/") {
			if (substr(line, 2, 1) == "/") {
				slashes = 1
				return out
			}
			in_comment = 1
			line = substr(line, 3)
			out = out " "
		} else if (token == "\"") {
			if (!match(line, /^"([^"\\]|\\.)*"/))
				return out
			out = out "\"\""
			line = substr(line, RLENGTH + 1)
		} else {
			if (!match(line, /^'([^'\\]|\\.)+'/))
				return out
			out = out "0"
			line = substr(line, RLENGTH + 1)
		}
	}
}

# Follows the brackets of a declaration at the left margin; commas between
# the outermost ones separate parameters.
function count_parameters(code,    i, octet)
{
	for (i = 1; i <= length(code); i++) {
		octet = substr(code, i, 1)
		if (octet == "(")
			depth++
		else if (octet == ")" && --depth == 0)
			break
		else if (octet == "," && depth == 1)
			commas++
	}
	if (depth > 0)
		return
	if (commas > 5)
		fail("more than 6 parameters")
	in_head = 0
}

FNR == 1 {
	in_comment = in_head = in_macro = body_start = too_long = 0
}

FNR == 701 { fail("more than 700 lines") }
width($0) > 80 { fail("more than 80 columns") }

{
	code = code_of($0)
	if (slashes)
		fail("a // comment")
	if (match(code, /(^|[^A-Za-z0-9_])(strcpy|strcat|sprintf|vsprintf|strncpy|strncat|strtok|gets|atoi|atol|atoll|rand|srand|assert|alloca|inet_ntoa|inet_addr)[ \t]*\(/)) {
		banned = substr(code, RSTART, RLENGTH)
		gsub(/[^a-z_0-9]/, "", banned)
		fail("calls " banned ", which is banned")
	}
	# These block, or start threads.
	if (FILENAME ~ /^src\// && match(code, /(^|[^A-Za-z0-9_])(getaddrinfo|gethostbyname|uv_queue_work|uv_getaddrinfo)[ \t]*\(/))
		fail("calls a resolver or a thread of the library's")
	if (in_macro || code ~ /^[ \t]*#/) {
		in_macro = code ~ /\\$/
		next
	}
}

/^\{/ { body_start = FNR }
/^\}/ && body_start {
	if (FNR - body_start + 1 > 70)
		fail("a function of more than 70 lines")
	body_start = 0
}

body_start { next }
!in_head && code ~ /^[a-z_A-Z][^=]*\(/ {
	in_head = 1
	depth = commas = 0
	sub(/^[^(]*/, "", code)
}
in_head { count_parameters(code) }

END { exit bad }
