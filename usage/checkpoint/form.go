package checkpoint

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// A shard as bytes: the magic bytes, the version, the checksum of all that follows; as varints, when
// it was written, its index, the number of shards, and the length of its content; then the content,
// deflated. The content is the number of sources, and for each its name and until when it was read;
// then the state of each container, with its length.

// version is the version of the form. A reader that does not know it must not guess.
const version = 1

const (
	// magic distinguishes a shard from other bytes.
	magic = "wr-usage"
	// sealed is where the bytes begin that the checksum covers, and overhead is how many bytes
	// are before the deflated content at most.
	sealed   = len(magic) + 1 + sha256.Size
	overhead = sealed + 4*binary.MaxVarintLen64
	// most is how many shards there are at most. Each is written once in an interval.
	most = 32
	// longest is the length of a shard's content at most. It bounds what a reader needs.
	longest = 8 << 20
	// shortest is less than any state has.
	shortest = 32
)

// header is what is known of a shard without its content.
type header struct {
	// written is when it was written. It is later for each write, by any writer.
	written time.Time
	// The shard has the containers whose hash is index, modulo count, which is a power of two.
	index, count int
}

// content is what a shard stores.
type content struct {
	// progress is until when each source has been read, for all containers of the shard.
	progress map[string]time.Time
	// states has the state of each container.
	states [][]byte
}

// errLarge means that a shard does not fit.
var errLarge = errors.New("too large")

// sum identifies a content.
type sum = [sha256.Size]byte

// packer converts contents to bytes. It keeps its memory for the next one.
type packer struct {
	raw      []byte
	packed   bytes.Buffer
	deflater *flate.Writer
}

// begin begins a content.
func (p *packer) begin(progress map[string]time.Time) {
	p.raw = binary.AppendUvarint(p.raw[:0], uint64(len(progress)))
	for _, source := range slices.Sorted(maps.Keys(progress)) {
		p.raw = append(binary.AppendUvarint(p.raw, uint64(len(source))), source...)
		p.raw = binary.AppendVarint(p.raw, progress[source].UnixNano())
	}
}

// add adds the state of a container, if there is one.
func (p *packer) add(state []byte) error {
	if len(state) == 0 {
		return nil
	}
	if p.raw = append(binary.AppendUvarint(p.raw, uint64(len(state))), state...); len(p.raw) > longest {
		return errLarge
	}
	return nil
}

// sum returns the sum of the content.
func (p *packer) sum() sum { return sha256.Sum256(p.raw) }

// finish returns the bytes of a shard with the content, if they are not more than limit.
func (p *packer) finish(h header, limit int) ([]byte, error) {
	p.packed.Reset()
	if p.deflater == nil {
		p.deflater, _ = flate.NewWriter(&p.packed, flate.DefaultCompression)
	} else {
		p.deflater.Reset(&p.packed)
	}
	if _, err := p.deflater.Write(p.raw); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	if err := p.deflater.Close(); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	if p.packed.Len()+overhead > limit {
		return nil, errLarge
	}
	b := append([]byte(magic), version)
	b = append(b, make([]byte, sha256.Size)...)
	b = binary.AppendVarint(b, h.written.UnixNano())
	for _, n := range []int{h.index, h.count, len(p.raw)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, p.packed.Bytes()...)
	check := sha256.Sum256(b[sealed:])
	copy(b[sealed-sha256.Size:], check[:])
	return b, nil
}

// laterError means that a later version wrote a shard.
type laterError struct{ version byte }

func (e laterError) Error() string {
	return fmt.Sprintf("a later version of workload-resizer wrote it, in format %d", e.version)
}

// errDamaged means that bytes are not a shard.
var errDamaged = errors.New("it is damaged")

// unpack returns the header and the content of a shard, and the content's sum.
func unpack(b []byte) (header, content, sum, error) {
	if len(b) < sealed || !bytes.HasPrefix(b, []byte(magic)) {
		return header{}, content{}, sum{}, fmt.Errorf("%w: it does not begin like a checkpoint", errDamaged)
	}
	if found := b[len(magic)]; found > version {
		return header{}, content{}, sum{}, laterError{found}
	} else if found < version {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its version is wrong", errDamaged)
	}
	if check := sha256.Sum256(b[sealed:]); !bytes.Equal(check[:], b[sealed-sha256.Size:sealed]) {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its checksum is wrong", errDamaged)
	}
	r := reader{rest: b[sealed:]}
	h := header{written: r.time(), index: int(r.number(most)), count: int(r.number(most))}
	length := r.number(longest)
	if r.failed || h.count == 0 || h.count&(h.count-1) != 0 || h.index >= h.count {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its header is wrong", errDamaged)
	}
	raw, err := inflate(r.rest, int(length))
	if err != nil {
		return header{}, content{}, sum{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	c, ok := parse(raw)
	if !ok {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its content is wrong", errDamaged)
	}
	return h, c, sha256.Sum256(raw), nil
}

// inflate returns bytes of a known length, which nobody can make longer.
func inflate(b []byte, length int) ([]byte, error) {
	in := bytes.NewReader(b)
	inflater := flate.NewReader(in)
	raw := make([]byte, length)
	if _, err := io.ReadFull(inflater, raw); err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	if n, err := inflater.Read(make([]byte, 1)); n > 0 || err != io.EOF || in.Len() > 0 {
		return nil, errors.New("its length is wrong")
	}
	return raw, nil
}

// parse returns the content, which refers to the bytes.
func parse(raw []byte) (content, bool) {
	r := reader{rest: raw}
	c := content{progress: map[string]time.Time{}}
	for n := r.number(uint64(len(raw))); n > 0 && !r.failed; n-- {
		source := string(r.take())
		c.progress[source] = r.time()
	}
	for len(r.rest) > 0 {
		state := r.take()
		if len(state) < shortest {
			r.fail()
			break
		}
		c.states = append(c.states, state)
	}
	return c, !r.failed
}

// reader takes values from bytes. After a failure, it returns zeros.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) fail() { r.rest, r.failed = nil, true }

// number returns a number that is not above the given one.
func (r *reader) number(most uint64) uint64 {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 || n > most {
		r.fail()
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

func (r *reader) time() time.Time {
	n, used := binary.Varint(r.rest)
	if used <= 0 {
		r.fail()
		return time.Time{}
	}
	r.rest = r.rest[used:]
	return time.Unix(0, n).UTC()
}

// take returns bytes with a length.
func (r *reader) take() []byte {
	n := r.number(uint64(len(r.rest)))
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
