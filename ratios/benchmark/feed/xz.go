package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	// maxDictionary is the memory that decompressing xz may take: the dictionary of its
	// highest level.
	maxDictionary = 64 << 20
	// maxDictionaries is the sum for all blocks of a feed. A block of xz is three times as large as
	// its dictionary, unless it is the last.
	maxDictionaries = maxText
	// maxXZHeader is the maximum size of the header of a block.
	maxXZHeader = 1024
)

// xzHeaders passes on xz data, except for headers of blocks that need too much memory. The decoder
// allocates what each header asks for, before it reads the block, and no option limits it.
//
// It checks all data that could be a header. It does not follow the structure of the data: wrong
// data could make it follow another structure than the decoder does. By chance, data has the
// checksum of a header once in four billion times.
type xzHeaders struct {
	in io.Reader
	// buffer has data from in, of which the part from next to checked can be passed on.
	buffer        [bufferSize]byte
	next, checked int
	size          int
	// err is the error of in after the data in the buffer.
	err error
	// dictionaries is the sum of all dictionaries.
	dictionaries int64
}

// Read implements io.Reader.
func (x *xzHeaders) Read(p []byte) (int, error) {
	if x.next == x.checked {
		if err := x.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, x.buffer[x.next:x.checked])
	x.next += n
	return n, nil
}

// fill reads more data, and checks all headers that begin in it and are complete.
func (x *xzHeaders) fill() error {
	x.size = copy(x.buffer[:], x.buffer[x.next:x.size])
	x.next, x.checked = 0, 0
	if x.err == nil {
		var n int
		n, x.err = io.ReadFull(x.in, x.buffer[x.size:])
		x.size += n
		if errors.Is(x.err, io.ErrUnexpectedEOF) {
			x.err = io.EOF
		}
	}
	if x.size == 0 {
		return x.err
	}
	end := x.size
	if x.err == nil {
		end -= maxXZHeader
	}
	for ; x.checked < end; x.checked++ {
		size, ok := xzDictionary(x.buffer[x.checked:x.size])
		if !ok {
			continue
		}
		x.dictionaries += size
		switch {
		case size > maxDictionary:
			return fmt.Errorf("it needs %d bytes of memory, and may need at most %d", size, maxDictionary)
		case x.dictionaries > maxDictionaries:
			return fmt.Errorf("its blocks need %d bytes of memory in all, and may need at most %d", x.dictionaries, int64(maxDictionaries))
		}
	}
	return nil
}

// xzDictionary returns the size of the dictionary if data begins with the header of a block: its
// size, its flags, optional sizes of the block, its only filter, and a checksum. The filter is an ID,
// the number of its properties (1), and the size of the dictionary.
func xzDictionary(data []byte) (size int64, ok bool) {
	const hasPackedSize, hasSize, lzma2, checksum = 0x40, 0x80, 0x21, 4
	if len(data) < 2 || data[0] == 0 || data[1]&^(hasPackedSize|hasSize) != 0 {
		return 0, false
	}
	length := (int(data[0]) + 1) * 4
	if length > len(data) {
		return 0, false
	}
	flags, rest := data[1], data[2:length-checksum]
	for _, flag := range []byte{hasPackedSize, hasSize} {
		if flags&flag != 0 {
			_, n := binary.Uvarint(rest)
			if n <= 0 {
				return 0, false
			}
			rest = rest[n:]
		}
	}
	id, n := binary.Uvarint(rest)
	if n <= 0 || id != lzma2 || len(rest) < n+2 || rest[n] != 1 {
		return 0, false
	}
	if crc32.ChecksumIEEE(data[:length-checksum]) != binary.LittleEndian.Uint32(data[length-checksum:]) {
		return 0, false
	}
	bits := rest[n+1] & 0x3f
	return int64(2|bits&1) << (bits/2 + 11), true
}
