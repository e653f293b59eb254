# Where the state of a capture is: in slots of the package's own objects, which own it. The engine
# reads and fills these slots for plain packets, and calls the objects' methods for all others.

cdef struct Slots:
    PyTypeObject* conversation_class
    Py_ssize_t conversation_ends
    Py_ssize_t connections
    Py_ssize_t connection
    Py_ssize_t flipped
    Py_ssize_t conversation_ts
    Py_ssize_t conversation_ordinal
    Py_ssize_t ended_us
    PyTypeObject* connection_class
    Py_ssize_t endpoints
    Py_ssize_t exchange
    Py_ssize_t foreign
    Py_ssize_t streams
    PyTypeObject* endpoints_class
    Py_ssize_t ends
    Py_ssize_t capture
    Py_ssize_t name
    Py_ssize_t client
    Py_ssize_t client_text
    Py_ssize_t server_text
    PyTypeObject* stream_class
    Py_ssize_t silent
    Py_ssize_t started
    Py_ssize_t framer
    Py_ssize_t reassembler
    PyTypeObject* reassembler_class
    Py_ssize_t sequence
    Py_ssize_t position
    Py_ssize_t buffered
    Py_ssize_t fin
    PyTypeObject* framer_class
    Py_ssize_t arrivals
    Py_ssize_t limit
    Py_ssize_t rest
    Py_ssize_t wanted
    Py_ssize_t buffer
    Py_ssize_t offset
    Py_ssize_t synced
    PyTypeObject* exchange_class
    Py_ssize_t client_id
    Py_ssize_t early
    Py_ssize_t guard
    Py_ssize_t kafka_seen
    Py_ssize_t pending
    Py_ssize_t sasl
    Py_ssize_t software
    PyTypeObject* early_class
    Py_ssize_t waiting
    PyTypeObject* guard_class
    Py_ssize_t may_have_tokens
    Py_ssize_t unsettled
    Py_ssize_t has_sasl
    Py_ssize_t proven
    PyTypeObject* sasl_class
    Py_ssize_t principal
    Py_ssize_t raw_tokens
    PyTypeObject* table_class
    Py_ssize_t by_id
    Py_ssize_t max_ids
    Py_ssize_t holes
    PyTypeObject* holes_class
    Py_ssize_t last_id
    Py_ssize_t last_ts
    Py_ssize_t ids_repeat
    Py_ssize_t hole_seen
    PyTypeObject* request_class
    Py_ssize_t request_api_key
    Py_ssize_t request_api_version
    Py_ssize_t request_ts
    Py_ssize_t request_client_id
    Py_ssize_t enclosed
    Py_ssize_t frame
    Py_ssize_t count
    Py_ssize_t frames
    PyTypeObject* names_class
    Py_ssize_t names_ordinal
    Py_ssize_t changes


cdef Py_ssize_t slot_named(object owner, str name) except -1:
    cdef object descriptor = getattr(owner, name)
    cdef Py_ssize_t found = kap_slot(<PyObject*>owner, <PyObject*>descriptor)
    if found < 0:
        raise ValueError(f"{owner.__name__}.{name} is no slot")
    return found


cdef int find_slots(Slots* s, dict classes) except -1:
    """The places of all slots; ``classes`` are the package's, which the caller keeps alive."""
    c = classes["Conversation"]
    s.conversation_class = <PyTypeObject*>c
    s.connection, s.flipped = slot_named(c, "_connection"), slot_named(c, "_flipped")
    s.conversation_ts, s.conversation_ordinal = slot_named(c, "ts"), slot_named(c, "ordinal")
    s.ended_us, s.connections = slot_named(c, "ended_us"), slot_named(c, "connections")
    s.conversation_ends = slot_named(c, "_ends")
    c = classes["Connection"]
    s.connection_class = <PyTypeObject*>c
    s.endpoints, s.exchange = slot_named(c, "endpoints"), slot_named(c, "_exchange")
    s.foreign, s.streams = slot_named(c, "foreign"), slot_named(c, "streams")
    c = classes["Endpoints"]
    s.endpoints_class = <PyTypeObject*>c
    s.capture, s.name, s.client = slot_named(c, "capture"), slot_named(c, "name"), slot_named(c, "client")
    s.ends = slot_named(c, "ends")
    s.client_text, s.server_text = slot_named(c, "client_text"), slot_named(c, "server_text")
    c = classes["StreamDecoder"]
    s.stream_class = <PyTypeObject*>c
    s.silent, s.started = slot_named(c, "_silent"), slot_named(c, "started")
    s.framer, s.reassembler = slot_named(c, "framer"), slot_named(c, "reassembler")
    c = classes["StreamReassembler"]
    s.reassembler_class = <PyTypeObject*>c
    s.sequence, s.position = slot_named(c, "sequence"), slot_named(c, "position")
    s.buffered, s.fin = slot_named(c, "buffered"), slot_named(c, "_fin")
    c = classes["Framer"]
    s.framer_class = <PyTypeObject*>c
    s.arrivals, s.limit, s.rest = slot_named(c, "_arrivals"), slot_named(c, "_limit"), slot_named(c, "_rest")
    s.wanted, s.buffer = slot_named(c, "_wanted"), slot_named(c, "buffer")
    s.offset, s.synced = slot_named(c, "offset"), slot_named(c, "synced")
    c = classes["Exchange"]
    s.exchange_class = <PyTypeObject*>c
    s.client_id, s.early, s.guard = slot_named(c, "client_id"), slot_named(c, "early"), slot_named(c, "guard")
    s.kafka_seen, s.pending = slot_named(c, "kafka_seen"), slot_named(c, "pending")
    s.sasl, s.software = slot_named(c, "sasl"), slot_named(c, "software")
    c = classes["EarlyResponses"]
    s.early_class = <PyTypeObject*>c
    s.waiting = slot_named(c, "waiting")
    c = classes["TokenGuard"]
    s.guard_class = <PyTypeObject*>c
    s.may_have_tokens, s.unsettled = slot_named(c, "raw_tokens"), slot_named(c, "unsettled")
    s.has_sasl, s.proven = slot_named(c, "sasl"), slot_named(c, "proven")
    c = classes["SaslExchange"]
    s.sasl_class = <PyTypeObject*>c
    s.principal, s.raw_tokens = slot_named(c, "principal"), slot_named(c, "raw_tokens")
    c = classes["RequestTable"]
    s.table_class = <PyTypeObject*>c
    s.by_id, s.max_ids, s.holes = slot_named(c, "_pending"), slot_named(c, "_max_ids"), slot_named(c, "holes")
    c = classes["Holes"]
    s.holes_class = <PyTypeObject*>c
    s.last_id, s.last_ts = slot_named(c, "last_id"), slot_named(c, "last_ts")
    s.ids_repeat, s.hole_seen = slot_named(c, "ids_repeat"), slot_named(c, "seen")
    c = classes["PendingRequest"]
    if list(c.__struct_fields__) != _REQUEST_FIELDS:
        raise ValueError("a pending request has other fields than the engine fills")
    s.request_class = <PyTypeObject*>c
    s.request_api_key, s.request_api_version = slot_named(c, "api_key"), slot_named(c, "api_version")
    s.request_ts, s.request_client_id = slot_named(c, "ts"), slot_named(c, "client_id")
    s.enclosed, s.frame = slot_named(c, "enclosed"), slot_named(c, "frame")
    s.count, s.frames = slot_named(c, "count"), slot_named(c, "frames")
    c = classes["TopicNameIndex"]
    s.names_class = <PyTypeObject*>c
    s.names_ordinal, s.changes = slot_named(c, "ordinal"), slot_named(c, "changes")
    return 0


_REQUEST_FIELDS = [
    "api_key", "api_version", "ts", "client_id", "enclosed", "frame", "count", "frames"
]


cdef inline PyObject* slot(PyObject* owner, Py_ssize_t at) noexcept:
    """What a slot has, borrowed; NULL if it is empty."""
    return (<PyObject**>(<char*>owner + at))[0]


cdef inline void fill(PyObject* owner, Py_ssize_t at, PyObject* x) noexcept:
    """Put a new reference into a slot."""
    cdef PyObject** place = <PyObject**>(<char*>owner + at)
    cdef PyObject* before = place[0]
    place[0] = x
    Py_XDECREF(before)


cdef inline int fill_number(PyObject* owner, Py_ssize_t at, int64_t number) except -1:
    cdef PyObject* x = PyLong_FromLongLong(number)
    if x == NULL:
        return _raise_set()
    fill(owner, at, x)
    return 0


cdef inline bint number_in(PyObject* x, int64_t* number) noexcept:
    """Whether an object is an int of 64 bits: the number then."""
    cdef int overflow = 0
    if x == NULL or not PyLong_CheckExact(x):
        return False
    number[0] = PyLong_AsLongLongAndOverflow(x, &overflow)
    return overflow == 0


cdef inline bint is_a(PyObject* x, PyTypeObject* wanted) noexcept:
    return x != NULL and Py_TYPE(x) == wanted


cdef inline bint is_empty(PyObject* buffered) noexcept:
    return buffered != NULL and PyList_CheckExact(buffered) and PyList_GET_SIZE(buffered) == 0


# One direction of a connection, and what it belongs to; all borrowed from the table of
# conversations.

cdef struct Side:
    PyObject* conversation
    PyObject* connection
    PyObject* endpoints
    PyObject* exchange
    PyObject* stream
    PyObject* other  # the stream of the other direction
    PyObject* reassembler
    PyObject* receiver  # the reassembler of the other direction
    PyObject* framer
    int64_t side
    int64_t ended_us  # when the connection ended; -1 if it has not


cdef bint find_side(Slots* s, PyObject* entry, Side* x) noexcept:
    """Whether a conversation of the table has a connection that is Kafka's and lacks no packet."""
    cdef PyObject* streams
    cdef int64_t end = 0, flipped = 0
    if not PyTuple_CheckExact(entry) or PyTuple_GET_SIZE(entry) != 2:
        return False
    x.conversation = PyTuple_GET_ITEM(entry, 0)
    if not is_a(x.conversation, s.conversation_class):
        return False
    x.ended_us = -1
    if slot(x.conversation, s.ended_us) != Py_None:
        if not number_in(slot(x.conversation, s.ended_us), &x.ended_us):
            return False
    x.connection = slot(x.conversation, s.connection)
    if not is_a(x.connection, s.connection_class):
        return False
    if slot(x.connection, s.foreign) != Py_None:
        return False
    if not number_in(PyTuple_GET_ITEM(entry, 1), &end):
        return False
    if not number_in(slot(x.conversation, s.flipped), &flipped):
        return False
    x.side = (end ^ flipped) & 1
    streams = slot(x.connection, s.streams)
    if streams == NULL or not PyTuple_CheckExact(streams) or PyTuple_GET_SIZE(streams) != 2:
        return False
    x.stream = PyTuple_GET_ITEM(streams, <Py_ssize_t>x.side)
    x.other = PyTuple_GET_ITEM(streams, <Py_ssize_t>(1 - x.side))
    if not is_a(x.stream, s.stream_class) or not is_a(x.other, s.stream_class):
        return False
    x.framer = slot(x.stream, s.framer)
    x.reassembler = slot(x.stream, s.reassembler)
    x.receiver = slot(x.other, s.reassembler)
    if not is_a(x.framer, s.framer_class) or not is_a(x.reassembler, s.reassembler_class):
        return False
    if not is_a(x.receiver, s.reassembler_class) or not is_a(slot(x.other, s.framer), s.framer_class):
        return False
    if not is_empty(slot(x.reassembler, s.buffered)) or not is_empty(slot(x.receiver, s.buffered)):
        return False
    x.endpoints = slot(x.connection, s.endpoints)
    x.exchange = slot(x.connection, s.exchange)
    return is_a(x.endpoints, s.endpoints_class) and is_a(x.exchange, s.exchange_class)


cdef PyObject* new_request(
    Slots* s, int api_key, int api_version, int64_t ts, PyObject* client_id
) noexcept:
    """A `PendingRequest`: new."""
    cdef PyObject* made = kap_new(s.request_class)
    if made == NULL:
        return NULL
    fill(made, s.request_api_key, PyLong_FromLong(api_key))
    fill(made, s.request_api_version, PyLong_FromLong(api_version))
    fill(made, s.request_ts, PyLong_FromLongLong(ts))
    fill(made, s.request_client_id, held(client_id))
    fill(made, s.enclosed, held(Py_None))
    fill(made, s.frame, held(Py_None))
    fill(made, s.count, PyLong_FromLong(1))
    fill(made, s.frames, held(Py_None))
    if (
        slot(made, s.request_api_key) == NULL
        or slot(made, s.request_api_version) == NULL
        or slot(made, s.request_ts) == NULL
        or slot(made, s.count) == NULL
    ):
        Py_DECREF(made)
        return NULL
    return made
