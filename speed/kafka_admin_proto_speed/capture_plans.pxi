# How messages are read and shown, what their rows have, and small parts of them.

# What a row has beside the state of its connection.

cdef struct Row:
    bint is_response
    bint is_read  # the body is: its error codes are known
    bint is_forwarded
    PyObject* client_id  # borrowed, as the others
    PyObject* principal
    PyObject* software
    int64_t ts
    int64_t offset
    int64_t latency  # -1 where there is none
    Py_ssize_t size
    int api_key
    int api_version
    int64_t correlation_id


cdef class CapturePlan:
    """How one message is read and shown at one version.

    ``flexible``: its header has tags. ``reads``: its body is decoded for its frame, in any
    connection. ``names``: it has names of topics, ``software`` that of the client, ``falls_back``:
    it may be of version 0. ``ends_login``: no client sends it before it has logged in.
    ``takes_values``: its JSON is not that of its fields. ``encloses``: it is an Envelope.
    """

    cdef str api
    cdef str dialect
    cdef Engine engine
    cdef bint flexible
    cdef bint reads
    cdef bint names
    cdef bint software
    cdef bint falls_back
    cdef bint ends_login
    cdef bint takes_values
    cdef bint encloses

    def __init__(
        self, str api not None, str dialect not None, Engine engine, *, bint flexible, bint reads,
        bint names, bint software, bint falls_back, bint ends_login, bint takes_values,
        bint encloses
    ):
        self.api, self.dialect, self.engine = api, dialect, engine
        self.flexible, self.reads, self.names = flexible, reads, names
        self.software, self.falls_back, self.ends_login = software, falls_back, ends_login
        self.takes_values, self.encloses = takes_values, encloses

    @property
    def is_plain(self):
        """Whether the engine can show the body without values."""
        return self.engine is not None and self.engine.nodes.in_json_order


cdef bint response_header(CapturePlan plan, Reader* r, Row* row) noexcept:
    """Whether a response has a plain header; the reader is at its body then."""
    if r.end - r.p < 4 + plan.flexible:
        return False
    row.correlation_id = <int32_t>be32(r.p)
    r.p += 4
    if plan.flexible:
        r.p += 1
        return (r.p - 1)[0] == 0
    return True


cdef bint has_acks(Shape* root, Reader r) noexcept:
    """Whether the body of a Produce, which has decoded, asks for a response."""
    cdef int64_t length
    cdef int i
    for i in range(root.count):
        if root.fields[i].node == NULL or root.fields[i].tag >= 0:
            continue
        if root.fields[i].node.kind == INT16:
            return be16(r.p) != 0  # acks is the first of them, behind the transactional id
        if root.fields[i].node.kind != STRING:
            return True
        length = read_length(root.fields[i].node, &r)
        r.p += max(length, 0)
    return True


cdef Py_ssize_t first_place(
    const unsigned char* q, const unsigned char* end, const unsigned char* data, int64_t size
) noexcept:
    """Where some bytes come first in a frame: at their own place, if not before it."""
    cdef const unsigned char* p = q
    if size == 0:
        return 0
    while p < data and p != NULL:
        p = <const unsigned char*>memchr(p, data[0], <size_t>(data - p))
        if p == NULL:
            break
        if memcmp(p, data, <size_t>size) == 0:
            return p - q
        p += 1
    return data - q
