# Packets of captures → their TCP segments, for packets of the usual shapes.

cdef enum:
    LINKS = 512  # link types below this are looked up
    PLAIN_4 = 34  # bytes of an IPv4 header without options and TCP's header up to its flags
    PLAIN_6 = 54  # the same of IPv6 without extension headers
    TCP = 6

cdef struct Links:
    bint known[LINKS]
    int sizes[LINKS]  # of the link header
    int types[LINKS]  # where the EtherType is in it; -1 where it has none

cdef struct Segment:
    const unsigned char* key  # both addresses, then both ports
    Py_ssize_t key_size
    uint32_t sequence
    uint32_t acknowledged
    int flags
    const unsigned char* payload
    Py_ssize_t size


cdef int fill_links(Links* links, dict link_headers, dict bare_headers) except -1:
    memset(links, 0, sizeof(Links))
    for link, (size, at) in link_headers.items():
        if not 0 <= link < LINKS or not 0 <= at <= size - 2:
            raise ValueError(f"link type {link} with its EtherType at {at} of {size}")
        links.known[link] = True
        links.sizes[link] = size
        links.types[link] = at
    for link, size in bare_headers.items():
        if not 0 <= link < LINKS or size < 0:
            raise ValueError(f"link type {link} with a header of {size} and no EtherType")
        links.known[link] = True
        links.sizes[link] = size
        links.types[link] = -1
    return 0


cdef bint is_vlan(unsigned int kind) noexcept:
    return kind == 0x8100 or kind == 0x88A8 or kind == 0x9100


cdef bint plain_segment(
    Links* links, int64_t link, const unsigned char* q, Py_ssize_t size, Segment* s
) noexcept:
    """Whether a packet is of a usual shape and whole: its segment then."""
    cdef const unsigned char* ip
    cdef const unsigned char* tcp
    cdef Py_ssize_t start, end
    cdef unsigned int kind
    if not 0 <= link < LINKS or not links.known[link]:
        return False
    start = links.sizes[link]
    if size < start + PLAIN_4:
        return False
    if links.types[link] < 0:
        kind = 0x0800 if q[start] >> 4 == 4 else 0x86DD
    else:
        kind = be16(q + links.types[link])
        while is_vlan(kind) and start + 4 + PLAIN_4 <= size:
            kind = be16(q + start + 2)
            start += 4
    ip = q + start
    if kind == 0x0800:
        end = be16(ip + 2)
        # As in the slow function: no options, TCP, no fragment, and a size.
        if ip[0] != 0x45 or ip[9] != TCP or be16(ip + 6) & 0x3FFF or end == 0:
            return False
        s.key, s.key_size = ip + 12, 12
        tcp = ip + 20
        end += start
    elif kind == 0x86DD:
        if size < start + PLAIN_6 or ip[0] >> 4 != 6 or ip[6] != TCP or be16(ip + 4) == 0:
            return False
        s.key, s.key_size = ip + 8, 36
        tcp = ip + 40
        end = start + 40 + be16(ip + 4)
    else:
        return False
    start = (tcp - q) + ((tcp[12] >> 2) & 0x3C)
    if end > size or start > end:
        return False
    s.sequence, s.acknowledged, s.flags = be32(tcp + 4), be32(tcp + 8), tcp[13]
    s.payload, s.size = q + start, end - start
    return True


cdef class SegmentReader:
    """Reads the segments of packets of the usual shapes; ``slow`` reads all others.

    ``link_headers``: link type → the size of its header, and where the EtherType is in it;
    ``bare_headers``: the same of those without an EtherType → the size.
    """

    cdef Links links
    cdef object slow

    def __cinit__(self, dict link_headers not None, dict bare_headers not None, slow):
        self.slow = slow
        fill_links(&self.links, link_headers, bare_headers)

    def read(self, int64_t link, data):
        """The segment of a packet, as the slow function gives it."""
        cdef Segment s
        if type(data) is not bytes or not plain_segment(
            &self.links,
            link,
            <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data),
            PyBytes_GET_SIZE(<PyObject*>data),
            &s,
        ):
            return self.slow(link, data)
        return (
            <bytes>(<const char*>s.key)[: s.key_size],
            s.sequence,
            s.flags,
            <bytes>(<const char*>s.payload)[: s.size],
            0,
            s.acknowledged,
        )
