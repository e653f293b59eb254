# How messages are read and shown, what their rows have, and small parts of them.

cdef enum:
    KEYS = 128  # api keys and versions below these are looked up
    VERSIONS = 64
    REQUEST = 0
    RESPONSE = 1
    PRODUCE = 0
    FETCH = 1
    UNSUPPORTED_VERSION = 35

# What a row has beside the state of its connection.

cdef struct Row:
    bint is_response
    bint is_read  # the body is: its error codes are known
    bint is_wanted  # by its header
    bint is_forwarded
    const unsigned char* body
    const unsigned char* end
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
    ``embeds``: there are other messages in its bytes. ``encloses``: it is an Envelope. ``make`` gives
    the engine of its body, if there is one, and the codec, which is handed to the functions for what
    is rare. It is called for the first body that is read: most of a capture's are not, where nobody
    asks for them, and a definition takes as long to be read as hundreds of frames.
    """

    cdef str api
    cdef str dialect
    cdef object make
    cdef Engine engine
    cdef object codec
    cdef bint flexible
    cdef bint reads
    cdef bint names
    cdef bint software
    cdef bint falls_back
    cdef bint ends_login
    cdef bint embeds
    cdef bint encloses

    def __init__(
        self, str api not None, str dialect not None, make, *, bint flexible, bint reads,
        bint names, bint software, bint falls_back, bint ends_login, bint embeds, bint encloses
    ):
        self.api, self.dialect, self.make = api, dialect, make
        self.flexible, self.reads, self.names = flexible, reads, names
        self.software, self.falls_back, self.ends_login = software, falls_back, ends_login
        self.embeds, self.encloses = embeds, encloses

    @property
    def is_plain(self):
        """Whether the engine can show the body without values."""
        return self.shows_body()

    cdef bint shows_body(self) except -1:
        if self.make is not None:
            self.engine, self.codec = self.make()
            self.make = None
        return self.engine is not None and self.engine.nodes.in_json_order
