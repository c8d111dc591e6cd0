# SPDX-License-Identifier: BSD-2-Clause
"""A datagram to one address that asks to be sent on to another.

    source_routes.py 4|6 FIRST LAST PORT
"""
import socket
import struct
import sys


def by_option(first, last, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Loose source routing, pointer at the only address, and one of padding.
    option = struct.pack("!BBB4sB", 131, 7, 4, socket.inet_aton(last), 1)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    s.connect((first, port))
    source = s.getsockname()[0]
    data = b"a secret"
    udp = struct.pack("!HHHH", 4000, port, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x47, 0, 28 + len(udp), 1, 0, 64, 17,
                       0, socket.inet_aton(source), socket.inet_aton(first))
    raw.sendto(head + option + udp, (first, 0))


def checksum(octets):
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack("!%dH" % (len(octets) // 2), octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def by_segments(first, last, port):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.connect((first, port))
    source = socket.inet_pton(socket.AF_INET6, s.getsockname()[0])
    to, then = (socket.inet_pton(socket.AF_INET6, a) for a in (first, last))
    data = b"a secret"
    length = 8 + len(data)
    pseudo = source + then + struct.pack("!II", length, 17)
    udp = struct.pack("!HHHH", 4000, port, length, 0) + data
    total = checksum(pseudo + udp)
    udp = udp[:6] + struct.pack("!H", total) + udp[8:]
    # Two segments in reverse order, one of them left.
    routing = struct.pack("!BBBBBBH", 17, 4, 4, 1, 1, 0, 0) + then + to
    head = struct.pack("!IHBB", 6 << 28, len(routing) + length, 43, 64)
    raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.sendto(head + source + to + routing + udp, (first, 0, 0, 0))


(by_option if sys.argv[1] == "4" else by_segments)(
    sys.argv[2], sys.argv[3], int(sys.argv[4]))
