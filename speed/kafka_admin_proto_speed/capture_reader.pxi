# Captures → rows: the packets of a file, beside a `CaptureDecoder`.

cdef class CaptureReader(ConnectionReader):
    """Decodes the plain packets of a capture, beside a `CaptureDecoder`, whose state it works on.

    ``out`` is where frames of plain Python go: the reader stops behind the packet that they are in,
    so that they come behind the rows before them. ``slow`` takes a segment that is not plain, with
    its time and ordinal, and returns when the next conversation is to be dropped. ``frames`` sees
    to the rows.
    """

    def __cinit__(
        self, dict link_headers not None, dict bare_headers not None,
        Conversations conversations not None, list out not None, slow, FrameReader frames not None
    ):
        fill_links(&self.links, link_headers, bare_headers)
        self.conversations, self.out = conversations, out
        self.slow, self.frames = slow, frames
        if not isinstance(frames.rows, RowWriter):
            raise TypeError("the rows of a capture are lines")
        self.rows = <RowWriter>frames.rows

    def read_pcap(
        self, source, header, str capture not None, int64_t ordinal, int64_t number
    ):
        """Read on from the source's position in a pcap file.

        ``ordinal`` counts the segments so far, and ``number`` the frames; both are returned.
        """
        self.begin(capture, ordinal, number)
        try:
            self.pcap_packets(source, header, PY_SSIZE_T_MAX)
        except:
            self.interrupted()
            raise
        return self.finish()

    def read_pcapng(
        self, source, order, list interfaces not None, str capture not None, int64_t ordinal,
        int64_t number
    ):
        """The same in a pcapng file."""
        self.begin(capture, ordinal, number)
        try:
            self.pcapng_packets(source, order, interfaces, PY_SSIZE_T_MAX)
        except:
            self.interrupted()
            raise
        return self.finish()

    cdef bint stops(self) except -1:
        return bool(self.out)

    cdef int begin(self, capture, int64_t ordinal, int64_t number) except -1:
        self.capture, self.ordinal = capture, ordinal
        self.until = self.conversations.table.next_end()
        self.rows.number = number
        return 0

    cdef int interrupted(self) except -1:
        """An exception goes through, Ctrl-C perhaps: have the rows written that are finished."""
        return self.rows.flush_finished()

    cdef object finish(self):
        """Have the rows written."""
        self.note_ordinal()
        self.rows.flush()
        return self.ordinal, self.rows.number
