# SPDX-License-Identifier: BSD-2-Clause
"""Questions over TCP, as resolver.py asks them over UDP."""
import os
import pathlib
import random
import select
import socket
import struct
import subprocess
import time

import dns.flags
import dns.message
import dns.opcode
import dns.rdatatype

from fakes import answer_to, pack
from resolver import (BOX1, BOX1_6, BOX2, CONFIG, LISTEN, LISTEN6, NOBODY,
                      STRANGER, Resolver, addresses, ask, check, extended, main, rcode,
                      until)

PER_SANDBOX = 8
TCP_CONFIG = CONFIG.replace(
    "      - big.example.com\n",
    "      - {name: big.example.com, types: [A, AAAA, TXT]}\n") + """limits:
  tcp_connections: 20
  tcp_connections_per_sandbox: %d
""" % PER_SANDBOX
STRINGS = ["%02d" % i + "x" * 26 for i in range(32)]


def script(query, tcp):
    """What the upstreams say."""
    name = query.question[0].name.to_text()
    type = query.question[0].rdtype
    if name == "dead.example.com.":
        return []
    if type == dns.rdatatype.TXT and not tcp:
        response = answer_to(query)
        response.flags |= dns.flags.TC
        return [response]
    if type == dns.rdatatype.TXT:
        return [answer_to(query, *('%s 60 IN TXT "%s"' % (name, text)
                                   for text in STRINGS))]
    if type != dns.rdatatype.A:
        return [answer_to(query)]
    return [answer_to(query, name + " 60 IN A 198.51.100.10")]


class Stream:
    def __init__(self, source=BOX1, timeout=5, buffers=None):
        six = ":" in source
        self.end = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                                 socket.SOCK_STREAM)
        if buffers is not None:
            for option in socket.SO_RCVBUF, socket.SO_SNDBUF:
                self.end.setsockopt(socket.SOL_SOCKET, option, buffers)
        self.end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.end.bind((source, 0))
        self.end.settimeout(timeout)
        self.end.connect((LISTEN6 if six else LISTEN, 53))
        self.octets = b""

    def send(self, octets):
        self.end.sendall(octets)

    def ask(self, name, type="A", **options):
        wire = frame(name, type, **options)
        self.send(wire)
        return self.read()

    def exactly(self, count):
        """None when the connection ends before."""
        while len(self.octets) < count:
            try:
                part = self.end.recv(65536)
            except ConnectionError:
                return None
            if not part:
                return None
            self.octets += part
        octets, self.octets = self.octets[:count], self.octets[count:]
        return octets

    def read(self):
        head = self.exactly(2)
        wire = head and self.exactly(struct.unpack("!H", head)[0])
        return wire and dns.message.from_wire(wire)

    def is_closed(self):
        """Everything that is there was read, or is thrown away."""
        self.end.setblocking(False)
        try:
            while self.end.recv(65536):
                pass
            return True
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def close(self):
        self.end.close()


def frame(name, type="A", edns=True, id=None):
    query = dns.message.make_query(name, type, use_edns=0 if edns else -1)
    if id is not None:
        query.id = id
    wire = query.to_wire()
    return struct.pack("!H", len(wire)) + wire


def is_refused(source=BOX1):
    """A connection that gets no answer but its end."""
    try:
        stream = Stream(source)
        answer = stream.ask("ok.example.com")
        stream.close()
        return answer is None
    except ConnectionError:
        return True


def is_answered(source=BOX1):
    try:
        stream = Stream(source)
        answer = stream.ask("ok.example.com")
        stream.close()
        return answer is not None and addresses(answer) == ["198.51.100.10"]
    except OSError:
        return False


def counts(r):
    return r.command("status")[0]["counts"]


def test_answers(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    stream = Stream()
    response = stream.ask("OK.example.com")
    check("a listed name is answered", addresses(response) ==
          ["198.51.100.10"], response)
    pin = r.helper.pins()[-1]
    check("and was pinned before", (pin.sandbox, pin.address, pin.port) ==
          (1, "198.51.100.10", 443))
    response = stream.ask("unlisted.example.org")
    check("an unlisted one does not exist, on the same connection",
          rcode(response) == "NXDOMAIN" and extended(response) == [15],
          response)
    event = r.command("events --denied")[0]
    check("the event says TCP", event["network"]["transport"] == "tcp", event)
    stream.close()
    response = Stream(STRANGER).ask("ok.example.com")
    check("a stranger is refused", rcode(response) == "REFUSED" and
          extended(response) == [18], response)
    response = Stream(BOX1_6).ask("ok.example.com")
    check("over IPv6", addresses(response) == ["198.51.100.10"], response)
    one, two = Stream(), Stream(BOX2)
    one.send(frame("ok.example.com", id=7))
    two.send(frame("never.example.com", id=7))
    check("each reply goes to who asked", rcode(one.read()) == "NOERROR" and
          rcode(two.read()) == "NXDOMAIN")
    one.send(frame("ok.example.com"))
    one.end.shutdown(socket.SHUT_WR)
    check("who has nothing more to ask is answered, then closed",
          addresses(one.read()) == ["198.51.100.10"] and one.read() is None)
    r.stop()


def test_truncation(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    for edns in False, True:
        response, _ = ask("big.example.com", "TXT", edns=edns)
        check("a big set does not fit a datagram",
              response.flags & dns.flags.TC, response)
        response = Stream().ask("big.example.com", "TXT", edns=edns)
        texts = sorted(item.strings[0].decode() for rrset in response.answer
                       for item in rrset)
        check("it comes whole over TCP", texts == STRINGS and
              not response.flags & dns.flags.TC, texts)
        check("beyond any datagram", len(response.to_wire(max_size=65535)) > 1232)
    check("truncated upstream: asked once more over TCP",
          any(tcp for _, _, tcp in up1.seen + up2.seen))
    r.stop()
    print("covers: H105 H106 H107")


def test_segments(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    stream = Stream()
    for octet in frame("ok.example.com"):
        stream.send(bytes([octet]))
        time.sleep(0.002)
    check("a question octet by octet",
          addresses(stream.read()) == ["198.51.100.10"])
    wire = frame("ok.example.com", id=1) + frame("n.example.org", id=2) + \
        frame("two.example.com", id=3)
    for cut in range(1, len(wire)):
        stream.send(wire[:cut])
        time.sleep(0.001)
        stream.send(wire[cut:])
        got = {stream.read().id for _ in range(3)}
        if got != {1, 2, 3}:
            check("three questions, cut at %d" % cut, False, got)
    check("three questions, cut anywhere", True)
    r.stop()
    print("covers: H101 H103")


def test_pipelined(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    stream = Stream()
    wire = frame("dead.example.com", id=0)
    for i in range(1, 101):
        wire += frame(("ok.example.com", "n%d.example.org" % i,
                       "two.example.com")[i % 3], id=i)
    started = time.monotonic()
    stream.send(wire)
    replies = [stream.read() for _ in range(100)]
    took = time.monotonic() - started
    check("100 questions at once", sorted(m.id for m in replies) ==
          list(range(1, 101)) and took < 1.5, took)
    check("each with its own answer", all(
        rcode(m) == ("NXDOMAIN" if m.id % 3 == 1 else "NOERROR")
        for m in replies))
    last = stream.read()
    check("the slow one comes last, and does come", last.id == 0 and
          rcode(last) == "SERVFAIL", last)
    stream.send(b"".join(frame("dead.example.com", id=i)
                         for i in range(200)))
    check("more than may be in flight: they wait, and are answered",
          {stream.read().id for _ in range(200)} == set(range(200)))
    r.stop()


def test_garbage(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    answer = bytearray(frame("ok.example.com"))
    answer[4] |= 0x80
    for what, octets in (("no octets", b"\0\0"), ("one octet", b"\0\1x"),
                         ("less than a header", b"\0\x0b" + b"x" * 11),
                         ("a response", bytes(answer))):
        stream = Stream()
        stream.send(octets)
        check("%s: closed" % what, stream.read() is None)
        stream.close()
    stream = Stream()
    wire = frame("ok.example.com", id=9)[2:]
    stream.send(b"\xff\xff" + wire + b"\0" * (65535 - len(wire)))
    response = stream.read()
    check("65,535 octets: malformed", rcode(response) == "FORMERR" and
          response.id == 9, response)
    check("and the next question is read", addresses(
        stream.ask("ok.example.com")) == ["198.51.100.10"])
    stream.send(struct.pack("!H", 12) + b"\0\7\x28" + b"\0" * 9)
    check("another opcode", rcode(stream.read()) == "NOTIMP")
    stream.close()
    seed = int(time.time())
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(300):
        wire = bytearray(b"".join(frame("ok.example.com")
                                  for _ in range(3)))
        for _ in range(draw.randrange(1, 5)):
            wire[draw.randrange(len(wire))] = draw.randrange(256)
        try:
            stream = Stream()
            stream.send(wire[:draw.randrange(len(wire))])
            stream.close()
        except ConnectionError:
            pass
    check("noise harms nobody", until(5, is_answered))
    check("nor does it leave connections", until(
        3, lambda: r.command("status")[0]["tcp_connections"] == 0))
    r.stop()


def test_patience(dir, up1, up2, corp):
    """All of them at once, to wait but once."""
    r = Resolver(dir, TCP_CONFIG).ready()
    started = time.monotonic()
    silent, half, asked, slow = Stream(), Stream(), Stream(), Stream()
    half.send(frame("ok.example.com")[:20])
    asked.ask("ok.example.com")
    greedy = Stream(BOX2, buffers=4096)
    greedy.end.setblocking(False)
    sent = flood(greedy, 3)
    before = memory(r)
    check("who does not read is not read", sent < 1 << 20, sent)
    check("and his neighbour is answered", is_answered() and
          ask("ok.example.com", source=BOX2)[0] is not None)
    slowly = frame("ok.example.com")
    at = 0
    ends = {}
    waiting = {"silent": silent, "half": half, "idle": asked, "slow": slow}
    while waiting and time.monotonic() < started + 20:
        for name, stream in list(waiting.items()):
            if stream.is_closed():
                ends[name] = time.monotonic() - started
                del waiting[name]
        if "slow" in waiting and at < len(slowly) - 1 and \
                time.monotonic() - started > at * 0.5:
            slow.end.setblocking(True)
            slow.send(slowly[at:at + 1])
            at += 1
        time.sleep(0.05)
    check("who asks nothing, or not to the end, is closed", not waiting and
          all(9 < end < 15 for end in ends.values()), ends)
    check("so is who does not read, what he has read so far apart",
          until(15, greedy.is_closed))
    check("which costs no memory", memory(r) <= before + 1024,
          before, memory(r))
    check("no connection is left", until(
        3, lambda: r.command("status")[0]["tcp_connections"] == 0))
    r.stop()


def flood(stream, seconds):
    """Sends questions and reads nothing; how many octets were taken."""
    wire = b"".join(frame("n%d.example.org" % i) for i in range(1000))
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        if select.select([], [stream.end], [], 0.1)[1]:
            try:
                sent += stream.end.send(wire[sent % len(wire):])
            except ConnectionError:
                break
    return sent


def memory(r):
    """In KiB."""
    for line in pathlib.Path("/proc/%d/status" % r.process.pid).read_text() \
            .splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


def test_limits(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    mine = [Stream() for _ in range(PER_SANDBOX)]
    for stream in mine:
        check("a connection of its own", stream.ask("ok.example.com"))
    check("one too many is reset", is_refused())
    for _ in range(50):
        is_refused()
    check("those before still work",
          all(stream.ask("ok.example.com") for stream in mine))
    check("its datagrams too", bool(ask("ok.example.com")[0]))
    check("a neighbour feels nothing", is_answered(BOX2) and
          bool(ask("ok.example.com", source=BOX2)[0]))
    theirs = [Stream(BOX2) for _ in range(PER_SANDBOX)]
    others = [Stream(STRANGER) for _ in range(4)]
    check("20 in all", all(s.ask("ok.example.com") for s in theirs + others))
    check("one more is one too many", is_refused(STRANGER))
    lines = {l["name"]: l for l in r.command("status")
             if l.get("kind") == "sandbox"}
    status = r.command("status")[0]
    check("status counts them", lines["box1"]["tcp_refused"] == 51 and
          lines["box2"]["tcp_refused"] == 0 and
          status["counts"]["tcp_refused"] == 52 and
          status["tcp_connections"] == 20, lines, status)
    mine.pop().close()
    check("one that goes makes room", until(3, is_answered))
    for stream in mine + theirs + others:
        stream.close()
    r.stop()


def test_late_replies(dir, up1, up2, corp):
    """A connection that takes the place of one that was left."""
    r = Resolver(dir, TCP_CONFIG).ready()
    for _ in range(PER_SANDBOX):
        gone = Stream()
        gone.send(b"".join(frame("dead.example.com", id=i)
                           for i in range(20)))
        time.sleep(0.02)
        gone.end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
        gone.close()
    streams = [Stream() for _ in range(PER_SANDBOX)]
    time.sleep(2.5)
    check("gets nothing of the other's", not any(
        select.select([s.end for s in streams], [], [], 0)))
    check("and is answered", all(s.ask("ok.example.com") for s in streams))
    r.stop()


def test_descriptors(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG).ready()
    ask("ok.example.com")
    first = Stream()
    check("a connection", bool(first.ask("ok.example.com")))
    used = {int(fd) for fd in os.listdir("/proc/%d/fd" % r.process.pid)}
    none_left = min(set(range(len(used) + 1)) - used)
    limit_descriptors(r, none_left)
    second = Stream(BOX2)
    second.send(frame("n.example.org"))
    check("no descriptor is left", until(
        3, lambda: "cannot accept" in r.log_text()))
    busy = spent(r)
    response, _ = ask("never.example.com")
    check("datagrams are answered", rcode(response) == "NXDOMAIN")
    time.sleep(0.5)
    check("nobody spins", spent(r) - busy < 25, spent(r) - busy)
    first.close()
    check("when one closes the next is accepted",
          rcode(second.read()) == "NXDOMAIN")
    third = Stream()
    third.send(frame("n.example.org"))
    time.sleep(0.2)
    limit_descriptors(r, 256)
    check("or when there are some again", rcode(third.read()) == "NXDOMAIN")
    r.stop()


def limit_descriptors(r, count):
    """As the process's own user, which is all that it takes."""
    subprocess.run(["prlimit", "--pid", str(r.process.pid),
                    "--nofile=%d:" % count], user=NOBODY, group=NOBODY,
                   extra_groups=[], check=True)


def spent(r):
    """Processor time, in ticks."""
    text = pathlib.Path("/proc/%d/stat" % r.process.pid).read_text()
    fields = text.rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_binding(dir, up1, up2, corp):
    r = Resolver(dir, TCP_CONFIG, bound=[(1, 1), (2, 4242)]).ready()
    check("a source by an interface that it is not bound to is reset",
          is_refused(BOX2))
    check("an alert says so, and over what", until(
        1, lambda: '"transport":"tcp"' in (dir / "alerts.jsonl").read_text()))
    for source in BOX1, BOX1_6:
        check("the bound one is answered", is_answered(source))
    stream = Stream()
    check("a connection", bool(stream.ask("ok.example.com")))
    r.helper.send(pack(132, 0, 1, ifindex=0))
    check("ends with the binding", until(2, stream.is_closed))
    check("and none is begun", is_refused())
    r.helper.send(pack(132, 0, 1, ifindex=1))
    check("bound again: answered", until(2, is_answered))
    r.stop()


if __name__ == "__main__":
    main(globals(), script)
