# The table of conversations: plain connections are opened and dropped here, others by plain Python.

cdef class Conversations:
    """Opens and drops conversations in a `ConversationTable`.

    ``pattern`` makes one that the SYN of a client has opened, between two endpoints that are yet to
    be filled in; ``ends`` gives their texts, of a key. The numbers are those of entries, and of what
    is ``remembered``, at which plain Python forgets some.
    """

    cdef Slots slots
    cdef object table
    cdef dict entries
    cdef object ended
    cdef object remembered
    cdef Py_ssize_t most_entries
    cdef Py_ssize_t most_remembered
    cdef Pattern pattern
    cdef object ends

    def __cinit__(
        self, table, Pattern pattern not None, ends, Py_ssize_t most_entries,
        Py_ssize_t most_remembered
    ):
        self.table, self.entries, self.ended = table, table.entries, table.ended
        self.remembered = table.remembered
        self.most_entries, self.most_remembered = most_entries, most_remembered
        self.pattern, self.ends = pattern, ends
        find_slots(&self.slots, {each.__name__: each for each in pattern.classes})

    cdef bint open(self, Segment* segment, Side* x) except -1:
        """Open a connection with the first SYN of a client; False for one that plain Python opens."""
        cdef Slots* s = &self.slots
        if not is_first_syn(segment):
            return False
        key = <bytes>(<const char*>segment.key)[: segment.key_size]
        back = reversed_key(key)
        if key == back or min(key, back) in self.remembered:
            return False
        if len(self.entries) >= self.most_entries:
            return False
        made = self.pattern.copy()
        ends = self.ends(key)
        entry = (made, 0)
        if not find_side(s, <PyObject*>entry, x):
            raise ValueError("the pattern is no open connection")
        fill(x.conversation, s.conversation_ends, held(<PyObject*>ends))
        begin_connection(s, x, segment, ends)
        self.entries[back] = (made, 1)
        self.entries[key] = entry
        return True

    cdef object forget(self, int64_t ts):
        """`ConversationTable.forget`; returns when it is due again."""
        while self.ended and ts - <int64_t>self.ended[0][0] > LINGER_US:
            if self.has_many_ended() or not self.drop(<tuple>self.ended[0]):
                self.table.forget(ts)
                break
        return self.table.next_end()

    cdef bint has_many_ended(self) except -1:
        """Whether plain Python sees to the conversations that have ended."""
        return len(self.ended) >= self.most_remembered // 2

    cdef bint drop(self, tuple head) except -1:
        """Drop a conversation that has ended: False for one that plain Python has to close."""
        cdef Slots* s = &self.slots
        cdef Side x
        cdef int64_t ended_us = head[0]
        key, conversation = <bytes>head[1], head[2]
        entry = self.entries.get(key)
        if entry is None or not find_side(s, <PyObject*>entry, &x):
            return False
        if x.conversation != <PyObject*>conversation or x.ended_us != ended_us:
            return False
        if not has_no_more(s, &x):
            return False
        back = reversed_key(key)
        self.ended.popleft()
        del self.entries[key]
        self.entries.pop(back, None)
        self.remembered[min(key, back)] = <object>slot(x.conversation, s.connections)
        if len(self.remembered) > self.most_remembered:
            self.remembered.popitem(False)
        # `Connection.release`, and what is behind it in `Conversation.close`.
        fill(x.stream, s.framer, NULL)
        fill(x.stream, s.reassembler, NULL)
        fill(x.other, s.framer, NULL)
        fill(x.other, s.reassembler, NULL)
        fill(x.connection, s.streams, NULL)
        fill(x.connection, s.exchange, NULL)
        fill(x.conversation, s.ended_us, held(Py_None))
        fill(x.conversation, s.connection, held(Py_None))
        return True


cdef bint is_first_syn(Segment* segment) noexcept:
    """Whether a client asks for a connection."""
    return (
        segment.flags & (SYN_FLAG | RST_FLAG | FIN_FLAG | ACK_FLAG) == SYN_FLAG and not segment.size
    )


cdef int begin_connection(Slots* s, Side* x, Segment* segment, tuple ends) except -1:
    """Fill in what a client's SYN says; the client is the first of the ``ends``."""
    fill(x.endpoints, s.ends, held(<PyObject*>ends))
    (<object>x.endpoints).set_client(0)
    return fill_number(x.reassembler, s.sequence, <int64_t>(<uint32_t>(segment.sequence + 1)))


cdef bint has_no_more(Slots* s, Side* x) noexcept:
    """Whether an ended connection has no bytes left that `Conversation.close` would decode."""
    cdef PyObject* early = slot(x.exchange, s.early)
    if not is_a(early, s.early_class) or PyObject_Size(slot(early, s.waiting)) != 0:
        return False
    if slot(x.connection, s.streams) == NULL or slot(x.conversation, s.connections) == NULL:
        return False
    return is_at_end(s, x.framer, x.reassembler) and is_at_end(s, slot(x.other, s.framer), x.receiver)


cdef bint is_at_end(Slots* s, PyObject* framer, PyObject* reassembler) noexcept:
    """Whether neither has bytes, nor lacks some."""
    cdef int64_t rest = 0
    if slot(framer, s.synced) != Py_True or not is_empty_buffer(slot(framer, s.buffer)):
        return False
    if not number_in(slot(framer, s.rest), &rest) or rest:
        return False
    return slot(reassembler, s.fin) == Py_None or has_ended(s, reassembler)


cdef bytes reversed_key(bytes key):
    """`segments.reversed_key`."""
    cdef Py_ssize_t size = (len(key) - 4) // 2
    cdef char turned[36]
    cdef const char* q = PyBytes_AS_STRING(<PyObject*>key)
    memcpy(turned, q + size, size)
    memcpy(turned + size, q, size)
    memcpy(turned + 2 * size, q + 2 * size + 2, 2)
    memcpy(turned + 2 * size + 2, q + 2 * size, 2)
    return turned[: 2 * size + 4]
