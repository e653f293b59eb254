# Topic ids in bodies, and their names.

cdef enum:
    MOST_TOPICS = 20_000  # names of topics that are kept as text

cdef class _Topic:
    """The name of a topic id, and both as JSON; None where it has none."""

    cdef object name
    cdef bytes text
    cdef int64_t shown  # which of all `topic_names` it was last put into


cdef class TopicReader(RowChooser):
    """Knows the names of the topic ids in the body of a frame, and chooses among frames by them."""

    cdef object options
    cdef Writer ids  # the topic ids in the body
    cdef dict topics
    cdef PyObject* changes  # of the index of names that ``topics`` is of

    def __cinit__(self, options, *_, **__):
        self.options = options
        open_writer(&self.ids, NULL)
        self.topics = {}

    def __dealloc__(self):
        drop_writer(&self.ids)
        Py_XDECREF(self.changes)

    cdef _Topic topic(self, const unsigned char* raw):
        """A topic id and its name."""
        cdef _Topic found
        key = <bytes>(<const char*>raw)[:16]
        known = self.topics.get(key)
        if known is None:
            found = _Topic()
            found.name, found.text = self.options.topic(key)
            self.topics[key] = found
            return found
        return <_Topic>known

    cdef bint may_be_about(self, Row* row, CapturePlan plan) noexcept:
        """Whether `is_about` may be true of a body that is yet to be read."""
        if self.topic_wanted is None or plan.engine is None or plan.engine.nodes.has_topic_ids:
            return True
        return has_bytes(row.body, row.end, self.topic_bytes)

    cdef bint is_about(self, Row* row, CapturePlan plan) except -1:
        """What `Filter` says of a body that was read: its error codes, and the topics it names."""
        cdef const unsigned char* q = self.ids.begin
        if self.errors_only and not (row.is_read and self.codes):
            return False
        if self.topic_wanted is None:
            return True
        if not row.is_read:
            return False
        while q < self.ids.p:
            if self.topic(q).name == self.topic_wanted:
                return True
            q += 16
        # Most bodies do not even have the bytes of the name; in others it may be that of a group.
        if not has_bytes(row.body, row.end, self.topic_bytes):
            return False
        body = <bytes>(<const char*>row.body)[: row.end - row.body]
        return self.options.names_topic(plan.codec, body, self.topic_wanted)

    cdef int follow_names(self, PyObject* changes) except -1:
        """Forget the names if others were given since, or there are many.

        This is called between two frames: those of one frame are told apart by what is kept.
        """
        if changes != self.changes or len(self.topics) >= MOST_TOPICS:
            self.topics.clear()
            Py_XDECREF(self.changes)
            self.changes = held(changes)
        return 0

    cdef bint knows_all_topics(self) except -1:
        """Whether all topic ids in the body have names."""
        cdef const unsigned char* q = self.ids.begin
        while q < self.ids.p:
            if self.topic(q).text is None:
                return False
            q += 16
        return True
