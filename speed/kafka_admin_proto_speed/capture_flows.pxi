# Chunks of packets → rows: those of one conversation after the other, as the pipeline has them.

cdef enum:
    SEGMENT_BYTES = 35  # of `chunks.SEGMENT`, whose numbers have the lower bytes first


cdef class FlowReader(PlainSegments):
    """Decodes the plain packets of chunks.

    ``pattern`` is a conversation that the SYN of a client has opened, and ``ends`` gives the texts
    of the two ends of a key. ``out`` is where frames of plain Python go: the reader stops behind the
    packet that they are in. ``frames`` sees to the rows, which are `RowColumns`.
    """

    cdef Pattern pattern
    cdef object ends
    cdef RowColumns rows

    def __cinit__(self, Pattern pattern not None, ends, list out not None, FrameReader frames not None):
        self.pattern, self.ends, self.out, self.frames = pattern, ends, out, frames
        if not isinstance(frames.rows, RowColumns):
            raise TypeError("the rows of chunks are columns")
        self.rows = <RowColumns>frames.rows

    def read(
        self, flow, bytes key not None, bytes segments not None, bytes payload not None,
        Py_ssize_t at, Py_ssize_t start, str capture not None
    ):
        """Take the packets of a chunk from ``at`` on, the payload of the first at ``start``.

        Stops at one that is not plain, behind one that plain Python has made frames of, and when
        the rows are full. Returns the conversation, which is new where ``flow`` is None and the
        first packet opens one, and where the next packet is and its payload.
        """
        cdef const unsigned char* q = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>segments)
        cdef Py_ssize_t end = len(segments)
        cdef Py_ssize_t left
        cdef Segment segment
        cdef int64_t ts
        cdef int sender
        cdef int64_t taken = -1  # the ordinal of the last packet that was
        self.capture = capture
        entries = None if flow is None else ((flow, 0), (flow, 1))
        while end - at >= SEGMENT_BYTES and not self.out and not self.rows.has_enough():
            self.ordinal = <int64_t>le64(q + at) - 1
            ts = <int64_t>le64(q + at + 8)
            segment.sequence, segment.acknowledged = u32(q + at + 16, False), u32(q + at + 20, False)
            segment.size = u32(q + at + 28, False)
            segment.flags = q[at + 32] | (q[at + 33] << 8)
            sender = <signed char>q[at + 34]
            left = len(payload) - start
            # Bytes that were not captured, and lines of a request log, are plain Python's.
            if u32(q + at + 24, False) or not 0 <= sender <= 1 or segment.size > left:
                break
            segment.payload = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>payload) + start
            if flow is None:
                flow = self.open(key, sender, &segment, ts)
                if flow is None:
                    break
                entries = ((flow, 0), (flow, 1))
            elif not self.taken(<PyObject*>entries[sender], &segment, ts):
                break
            at += SEGMENT_BYTES
            start += segment.size
            taken = self.ordinal
        if taken >= 0:
            fill_number(self.frames.names, self.frames.slots.names_ordinal, taken)
        return flow, at, start

    cdef object open(self, bytes key, int sender, Segment* segment, int64_t ts):
        """A conversation that the SYN of a client opens; None for another packet."""
        cdef Slots* s = &self.frames.slots
        cdef Side x
        if not is_first_syn(segment):
            return None
        made = self.pattern.copy()
        entry = (made, 0)
        if not find_side(s, <PyObject*>entry, &x):
            raise ValueError("the pattern is no open connection")
        ends = self.ends(key)
        fill(x.conversation, s.conversation_ends, held(<PyObject*>ends))
        fill_number(x.conversation, s.flipped, sender)
        begin_connection(s, &x, segment, (ends[sender], ends[1 - sender]))
        self.arrived(&x, ts)
        return made


cdef inline uint64_t le64(const unsigned char* q) noexcept:
    return (<uint64_t>u32(q + 4, False) << 32) | u32(q, False)
