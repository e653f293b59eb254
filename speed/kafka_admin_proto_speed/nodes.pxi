# The nodes: a message's wire tree as structs in memory, made once from the description that
# kafka_admin_proto.wire.nodes defines. An Engine owns its nodes, and what they refer to.

cdef enum:
    BOOL = 1
    INT8
    INT16
    UINT16
    INT32
    UINT32
    INT64
    FLOAT64
    UUID_
    STRING
    BYTES
    RECORDS
    ARRAY
    NULLABLE
    STRUCT

cdef enum:  # what scans look for
    ERROR_CODE = 1
    TOPIC_ID

cdef enum:  # how the default of a field comes about
    SHARED_DEFAULT  # one object for all
    LIST_DEFAULT  # an empty list each time
    MADE_DEFAULT  # a call each time

cdef enum:
    # Structs inside each other, and fields of a struct, beyond which no engine is made: what the
    # functions keep on the stack is bounded by these.
    DEEPEST = 32
    MOST_FIELDS = 120
    TOPIC_NAMES = 3

cdef struct Node:
    int kind
    bint compact
    bint nullable
    bint tagged  # of NULLABLE: its marker is a varint
    int prefix_size
    int64_t max_length
    int64_t least  # of ARRAY: the fewest bytes of an element
    Node* element
    Shape* shape  # of STRUCT and NULLABLE

cdef struct Field:
    Node* node  # NULL where the version does not have the field
    Node* absent  # what a value has to fit then
    Py_ssize_t offset  # in an instance of the value class
    PyObject* attribute
    int how_default
    PyObject* default  # what is shared, or called
    bint ignorable
    int64_t tag  # -1 where it is not tagged
    bint sensitive
    int scanned  # ERROR_CODE, TOPIC_ID, or 0 for a field that no scan is about
    int named_by  # the index of the field whose text decides whether it is a secret, or -1
    const char* key  # in JSON, as in b'"name":'
    Py_ssize_t key_size
    const char* size_key  # the same of the size of records
    Py_ssize_t size_key_size

cdef struct Shape:
    PyTypeObject* value_class
    int count
    Field* fields  # in the order of the value class; unknown tags are the last, if it has any
    bint flexible
    int tagged_count
    int* tagged  # the indices of tagged fields, in the order of their tags
    int foreign_count
    int64_t* foreign
    int unknown  # the index of the unknown tags, or -1
    bint secret_tags
    bint holds_records
    bint may_be_metadata  # it has records and a field that names their topic
    int topic_id
    int topic_names[TOPIC_NAMES]
    bint in_json_order  # what decides about masks comes before what is masked

cdef struct Block:
    Block* next


cdef class _Nodes:
    """The owner of nodes, of the memory that they are in and of the objects that they name."""

    cdef Block* blocks
    cdef list kept
    cdef dict shapes  # id of a description → address of its shape
    cdef bint in_json_order
    cdef bint has_topic_ids

    def __cinit__(self):
        self.blocks = NULL
        self.kept = []
        self.shapes = {}
        self.in_json_order = True

    def __dealloc__(self):
        cdef Block* block = self.blocks
        cdef Block* next_block
        while block != NULL:
            next_block = block.next
            free(block)
            block = next_block

    cdef void* room(self, size_t count, size_t size) except NULL:
        """Zeroed memory for ``count`` things of a size, freed with this object."""
        if count > (1 << 20) // size:
            raise MemoryError
        cdef Block* block = <Block*>calloc(1, sizeof(Block) + count * size)
        if block == NULL:
            raise MemoryError
        block.next = self.blocks
        self.blocks = block
        return <void*>(block + 1)

    cdef PyObject* keep(self, object x) except NULL:
        """A reference that lives as long as the nodes do."""
        self.kept.append(x)
        return <PyObject*>x

    cdef Node* node(self, object description, int depth) except NULL:
        cdef Node* made = <Node*>self.room(1, sizeof(Node))
        name = type(description).__name__
        if name == "FixedNode":
            made.kind = _fixed_kind(description.kind, description.size, description.signed)
        elif name == "BlobNode":
            kinds = {"string": STRING, "bytes": BYTES, "records": RECORDS}
            made.kind = kinds.get(description.kind, 0)
            made.prefix_size = description.prefix_size
            if not made.kind or made.prefix_size not in (2, 4):
                raise ValueError(f"{description.kind} with a length of {made.prefix_size} bytes")
            made.max_length = description.max_length
            made.compact = description.compact
            made.nullable = description.nullable
        elif name == "ArrayNode":
            made.kind = ARRAY
            made.compact = description.compact
            made.nullable = description.nullable
            made.least = max(description.least, 1)
            made.element = self.node(description.element, depth)
        elif name == "NullableNode":
            made.kind = NULLABLE
            made.tagged = description.tagged
            made.shape = self.shape(description.struct, depth + 1)
        else:
            made.kind = STRUCT
            made.shape = self.shape(description, depth + 1)
        return made

    cdef Shape* shape(self, object description, int depth) except NULL:
        cdef Shape* made
        known = self.shapes.get(id(description))
        if known is not None:
            return <Shape*><size_t>known
        fields = description.fields
        value_class = description.value_class
        names = [each.attribute for each in fields]
        has_unknown = list(value_class.__struct_fields__) == [*names, _UNKNOWN]
        if depth > DEEPEST or len(fields) >= MOST_FIELDS:
            raise ValueError("the message is too deep or too wide for the engine")
        if not has_unknown and list(value_class.__struct_fields__) != names:
            raise ValueError(f"{value_class.__name__} has other fields than its description")
        if kap_collected(<PyObject*>value_class) or not kap_slotted(<PyObject*>value_class):
            raise ValueError(f"{value_class.__name__} is no class with slots alone")
        made = <Shape*>self.room(1, sizeof(Shape))
        made.value_class = <PyTypeObject*>self.keep(value_class)
        made.count = len(fields) + has_unknown
        made.fields = <Field*>self.room(made.count + 1, sizeof(Field))
        made.flexible = description.flexible
        if made.flexible and not has_unknown:
            raise ValueError(f"{value_class.__name__} has no place for unknown tags")
        made.secret_tags = description.secret_tags
        made.holds_records = description.holds_records
        cdef int index
        for index, field in enumerate(fields):
            self.field(&made.fields[index], value_class, field, names, depth)
        made.unknown = -1
        if has_unknown:
            made.unknown = len(fields)
            _place(&made.fields[made.unknown], value_class, _UNKNOWN)
            made.fields[made.unknown].default = self.keep(())
        self.tags(made, description)
        self.masks(made, fields, names)
        # Only now: the shape of a struct inside itself would have no end.
        self.shapes[id(description)] = <size_t>made
        self.kept.append(description)
        return made

    cdef int field(
        self, Field* made, object value_class, object field, list names, int depth
    ) except -1:
        _place(made, value_class, field.attribute)
        self.keep(field.attribute)
        if field.node is not None:
            made.node = self.node(field.node, depth)
        if field.absent is not None:
            made.absent = self.node(field.absent, depth)
        made.tag = -1 if field.tag is None else field.tag
        made.ignorable = field.ignorable
        made.sensitive = field.sensitive
        if is_error_field(field.attribute):
            made.scanned = ERROR_CODE
        elif is_topic_id_field(field.attribute):
            self.has_topic_ids = True
            made.scanned = TOPIC_ID
        made.named_by = names.index(field.named_by) if field.named_by else -1
        default = field.default()
        if type(default) is list:
            made.how_default = LIST_DEFAULT
            made.default = self.keep(field.default)
        elif default is None or isinstance(default, (bool, int, str, bytes, float, _UUID)):
            made.how_default = SHARED_DEFAULT
            made.default = self.keep(default)
        else:
            made.how_default = MADE_DEFAULT
            made.default = self.keep(field.default)
        key = _json_text(field.json) + b":"
        self.keep(key)
        made.key, made.key_size = key, len(key)
        size_key = _json_text(f"{field.json}SizeInBytes") + b":"
        self.keep(size_key)
        made.size_key, made.size_key_size = size_key, len(size_key)
        return 0

    cdef int tags(self, Shape* made, object description) except -1:
        cdef int place, index
        pairs = sorted(
            (field.tag, index)
            for index, field in enumerate(description.fields)
            if field.tag is not None and field.node is not None
        )
        made.tagged_count = len(pairs)
        made.tagged = <int*>self.room(len(pairs) + 1, sizeof(int))
        for place, (_, index) in enumerate(pairs):
            made.tagged[place] = index
        foreign = sorted(description.foreign_tags)
        made.foreign_count = len(foreign)
        made.foreign = <int64_t*>self.room(len(foreign) + 1, sizeof(int64_t))
        for place, tag in enumerate(foreign):
            made.foreign[place] = tag
        return 0

    cdef int masks(self, Shape* made, object fields, list names) except -1:
        """Where the topic of records is named, and whether all that decides comes first."""
        cdef int index, place
        decides = []
        made.topic_id = names.index("topic_id") if "topic_id" in names else -1
        for place, name in enumerate(_TOPIC_NAMES):
            made.topic_names[place] = names.index(name) if name in names else -1
        if made.holds_records:
            decides = [
                names.index(each)
                for each in ("topic_id", *_TOPIC_NAMES)
                if each in names and fields[names.index(each)].node is not None
            ]
            made.may_be_metadata = bool(decides)
        for i in decides:
            if fields[i].tag is not None or type(fields[i].node).__name__ not in (
                "FixedNode", "BlobNode",
            ):
                self.in_json_order = False
        for index in range(len(fields)):
            if made.fields[index].node == NULL:
                continue
            if made.fields[index].named_by >= index:
                self.in_json_order = False
            elif made.fields[index].named_by >= 0 and (
                fields[index].tag is not None
                or type(fields[made.fields[index].named_by].node).__name__ != "BlobNode"
            ):
                self.in_json_order = False
            if _holds_records(fields[index].node) and any(i > index for i in decides):
                self.in_json_order = False
        return 0


cdef int _place(Field* made, object value_class, str attribute) except -1:
    descriptor = getattr(value_class, attribute)
    made.attribute = <PyObject*>attribute
    made.offset = kap_slot(<PyObject*>value_class, <PyObject*>descriptor)
    made.tag = -1
    made.named_by = -1
    if made.offset < 0:
        raise ValueError(f"{value_class.__name__}.{attribute} is no slot")
    return 0


def _fixed_kind(kind, size, is_signed):
    kinds = {
        ("bool", 1, False): BOOL,
        ("integer", 1, True): INT8,
        ("integer", 2, True): INT16,
        ("integer", 2, False): UINT16,
        ("integer", 4, True): INT32,
        ("integer", 4, False): UINT32,
        ("integer", 8, True): INT64,
        ("float64", 8, False): FLOAT64,
        ("uuid", 16, False): UUID_,
    }
    if (kind, size, is_signed) not in kinds:
        raise ValueError(f"a {kind} of {size} bytes")
    return kinds[kind, size, is_signed]


def _holds_records(node):
    """Whether ``records`` are in what a description is of."""
    name = type(node).__name__
    if name == "BlobNode":
        return node.kind == "records"
    if name == "ArrayNode":
        return _holds_records(node.element)
    if name == "NullableNode":
        return node.struct.holds_records
    return name == "StructNode" and node.holds_records
