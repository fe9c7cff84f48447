package reconciler

import (
	"encoding/binary"
	"unique"
)

// packer puts texts and numbers together into one piece of memory: each by itself has
// a header of 16 bytes, and what the allocator adds.
type packer struct {
	packed []byte
	// long are texts that are better shared than copied.
	long []unique.Handle[string]
}

// longText is from how many bytes on a text is shared, which takes some 200 by itself.
// The longest key of a label or annotation has 317.
const longText = 320

func (p *packer) number(n int64) { p.packed = binary.AppendVarint(p.packed, n) }

func (p *packer) text(s string) {
	if len(s) >= longText {
		p.number(-1)
		p.long = append(p.long, unique.Make(s))
		return
	}
	p.number(int64(len(s)))
	p.packed = append(p.packed, s...)
}

// unpacker returns what was packed, in the same order. Its texts are parts of the
// packed one, so that who keeps them keeps it.
type unpacker struct {
	packed string
	long   []unique.Handle[string]
}

func (u *unpacker) number() int64 {
	var zigzag uint64
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		b := u.packed[i]
		zigzag |= uint64(b&0x7f) << shift
		if b < 0x80 {
			u.packed = u.packed[i+1:]
			return int64(zigzag>>1) ^ -int64(zigzag&1)
		}
	}
}

func (u *unpacker) text() string {
	n := u.number()
	if n < 0 {
		s := u.long[0].Value()
		u.long = u.long[1:]
		return s
	}
	s := u.packed[:n]
	u.packed = u.packed[n:]
	return s
}
