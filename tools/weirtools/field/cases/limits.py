"""Point 6: slow names, dead addresses, distant hosts."""

from weirtools.field.actions import after, cut_at, first, frames, moves, pauses
from weirtools.field.case import Host, case

TRUTH = "ts/90p/media.m3u8"
case("far", "a host at 100 ms", hosts={"A": Host(delay=0.1)}, fast=True)
case("far-tls", "a host at 100 ms over TLS", hosts={"A": Host(delay=0.1, tls="good")}, opens="https://HOST-A/master.m3u8")
case("slow-resolver", "the resolver takes 7 s", hosts={"A": Host(dns_delay=7)}, within=90)
case("slow-first-byte", "the first byte of a segment after 12 s", rules=[("/2.ts", frames(delay=12))], within=90)
case("slow-first-byte-20", "the first byte of a segment after 20 s", rules=[("/2.ts", frames(delay=20))], within=120)
case("slow-master", "the master after 9 s", rules=[("/master.m3u8", frames(delay=9))], within=90)
case("slow-master-20", "the master after 20 s", rules=[("/master.m3u8", frames(delay=20))], within=150)
case("slow-media", "the media playlist after 12 s", rules=[("/media.m3u8", frames(delay=12))], within=120)
case("dead-second", "two addresses, the second dead", hosts={"A": Host(answers=["ADDRESS-A", "ADDRESS-E"]), "E": Host(address="dead")}, fast=True)
case("dead-first", "two addresses, the first dead", hosts={"A": Host(answers=["ADDRESS-E", "ADDRESS-A"]), "E": Host(address="dead")},
     reference=TRUTH, within=120)
case("refusing-first", "two addresses, the first refuses", hosts={"A": Host(answers=["1.2.250.250", "ADDRESS-A"])}, fast=True)
case("dead-six", "a dead IPv6 address beside a good IPv4 one", hosts={"A": Host(answers=["2a0f:2:ffff::1", "ADDRESS-A"])})
case("stall-inside", "a pause of 8 s inside a segment", rules=[("/2.ts", pauses(16384, 8))], within=90)
case("cut-stall", "each segment is cut once, 100 ms away", hosts={"A": Host(delay=0.1)}, rules=[("*.ts", first(1, cut_at(0.5)))], reference=TRUTH)
case("no-name", "a name that does not exist", opens="http://HOST-E/master.m3u8", hosts={"E": Host(answers="NXDOMAIN")}, refused="name", columns=("offline",))


# ffmpeg would wait for as long as a case may take.
WITHOUT_DIRECT = ("cold", "offline")


def edge(name, title, rule, **fields):
    """A name with two addresses, of which the first one, host B, misbehaves. ffmpeg itself stays with it."""
    def used(site, _):
        return None if any(request.letter == "B" for request, _ in site.log) else "the first address was not asked"
    case(name, title, hosts={"A": Host(answers=["ADDRESS-B", "ADDRESS-A"])}, rules=[rule], reference=TRUTH, checks=(used,), **fields)


edge("edge-resets", "two addresses, the first resets each segment", ("B:*.ts", cut_at(0.5, is_reset=True)), fast=True)
edge("edge-refuses", "two addresses, the first ends each connection without a reply", ("B:*", frames(cut=-1)))
edge("edge-is-silent", "two addresses, the first never replies", ("B:*", frames(delay=300)), within=120, columns=WITHOUT_DIRECT)
edge("edge-stalls", "two addresses, the first stalls inside each segment", ("B:*.ts", pauses(16384, 300)), within=180, columns=WITHOUT_DIRECT)
case("dns-moves", "the host moves to another address during the play", rules=[("A:*.ts", after(2, moves("HOST-A", "ADDRESS-B")))],
     reference=TRUTH, within=90, columns=WITHOUT_DIRECT)
