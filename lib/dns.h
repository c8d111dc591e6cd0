/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dns - the numbers of the protocol that we use (IANA DNS parameters).
 */
#ifndef LIB_DNS_H
#define LIB_DNS_H

#include <stdint.h>

#define DNS_HEADER_SIZE	  12
#define DNS_UDP_MIN	  512 /* what everybody can take */
#define DNS_UDP_OURS	  1232 /* what we announce */
#define DNS_MESSAGE_MAX	  65535
#define DNS_LABEL_MAX	  63
#define DNS_NAME_MAX	  255 /* wire form, root label included */
#define DNS_OPCODE_QUERY  0

enum dns_header_offset {
	DNS_OFFSET_ID = 0,
	DNS_OFFSET_FLAGS = 2,
	DNS_OFFSET_QDCOUNT = 4,
	DNS_OFFSET_ANCOUNT = 6,
	DNS_OFFSET_NSCOUNT = 8,
	DNS_OFFSET_ARCOUNT = 10
};

enum dns_flag {
	DNS_FLAG_QR = 0x8000,
	DNS_FLAG_OPCODE = 0x7800,
	DNS_FLAG_AA = 0x0400,
	DNS_FLAG_TC = 0x0200,
	DNS_FLAG_RD = 0x0100,
	DNS_FLAG_RA = 0x0080,
	DNS_FLAG_Z = 0x0040,
	DNS_FLAG_AD = 0x0020,
	DNS_FLAG_CD = 0x0010,
	DNS_FLAG_RCODE = 0x000f
};

enum dns_type {
	DNS_TYPE_A = 1,
	DNS_TYPE_NS = 2,
	DNS_TYPE_CNAME = 5,
	DNS_TYPE_SOA = 6,
	DNS_TYPE_NULL = 10,
	DNS_TYPE_PTR = 12,
	DNS_TYPE_MX = 15,
	DNS_TYPE_TXT = 16,
	DNS_TYPE_KEY = 25,
	DNS_TYPE_AAAA = 28,
	DNS_TYPE_SRV = 33,
	DNS_TYPE_DNAME = 39,
	DNS_TYPE_OPT = 41,
	DNS_TYPE_RRSIG = 46,
	DNS_TYPE_SVCB = 64,
	DNS_TYPE_HTTPS = 65,
	DNS_TYPE_TKEY = 249,
	DNS_TYPE_TSIG = 250,
	DNS_TYPE_IXFR = 251,
	DNS_TYPE_AXFR = 252,
	DNS_TYPE_ANY = 255,
	DNS_TYPE_CAA = 257,
	DNS_TYPE_PRIVATE_FIRST = 65280,
	DNS_TYPE_PRIVATE_LAST = 65534
};

enum dns_class { DNS_CLASS_IN = 1, DNS_CLASS_ANY = 255 };

enum dns_rcode {
	DNS_RCODE_NOERROR = 0,
	DNS_RCODE_FORMERR = 1,
	DNS_RCODE_SERVFAIL = 2,
	DNS_RCODE_NXDOMAIN = 3,
	DNS_RCODE_NOTIMP = 4,
	DNS_RCODE_REFUSED = 5,
	DNS_RCODE_BADVERS = 16 /* extended: the low four bits are 0 */
};

/* Extended errors, RFC 8914. */
enum dns_ede {
	DNS_EDE_OTHER = 0,
	DNS_EDE_BLOCKED = 15,
	DNS_EDE_FILTERED = 17,
	DNS_EDE_PROHIBITED = 18,
	DNS_EDE_NO_REACHABLE_AUTHORITY = 22,
	DNS_EDE_NETWORK_ERROR = 23,
	DNS_EDE_NONE = 0xffff /* ours: send none */
};

enum dns_option { DNS_OPTION_EDE = 15, DNS_OPTION_PADDING = 12 };

#endif
