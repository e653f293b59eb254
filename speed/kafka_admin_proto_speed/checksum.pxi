# CRC-32C, of record batches.

cdef uint32_t _crc_tables[8][256]


cdef void make_crc_tables() noexcept:
    cdef uint32_t crc
    cdef int i, k
    for i in range(256):
        crc = <uint32_t>i
        for k in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        _crc_tables[0][i] = crc
    for i in range(256):
        for k in range(1, 8):
            crc = _crc_tables[k - 1][i]
            _crc_tables[k][i] = (crc >> 8) ^ _crc_tables[0][crc & 255]


cdef uint32_t crc_of(const unsigned char* q, Py_ssize_t size) noexcept nogil:
    """CRC-32C, eight bytes at a step."""
    cdef uint32_t crc = 0xFFFFFFFF
    while size >= 8:
        crc ^= <uint32_t>q[0] | <uint32_t>q[1] << 8 | <uint32_t>q[2] << 16 | <uint32_t>q[3] << 24
        crc = (
            _crc_tables[7][crc & 255]
            ^ _crc_tables[6][(crc >> 8) & 255]
            ^ _crc_tables[5][(crc >> 16) & 255]
            ^ _crc_tables[4][crc >> 24]
            ^ _crc_tables[3][q[4]]
            ^ _crc_tables[2][q[5]]
            ^ _crc_tables[1][q[6]]
            ^ _crc_tables[0][q[7]]
        )
        q += 8
        size -= 8
    while size > 0:
        crc = (crc >> 8) ^ _crc_tables[0][(crc ^ q[0]) & 255]
        q += 1
        size -= 1
    return ~crc


def crc32c(data):
    """CRC-32C (Castagnoli) of any bytes, 0 to 2**32 - 1."""
    cdef Py_buffer view
    cdef uint32_t crc
    if PyObject_GetBuffer(<PyObject*>data, &view, PyBUF_SIMPLE) < 0:
        _refuse()
    with nogil:
        crc = crc_of(<const unsigned char*>view.buf, view.len)
    PyBuffer_Release(&view)
    return crc


make_crc_tables()
