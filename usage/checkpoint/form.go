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

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/usage"
	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
)

// A shard as bytes: the magic bytes, the version, the checksum of all that follows, and a storedv2.Shard.

// version is the version of the form. A reader that does not know it must not guess. It does not change for
// new fields.
const version = 2

const (
	// magic distinguishes a shard from other bytes.
	magic = "wr-usage"
	// sealed is where the bytes begin that the checksum covers, and overhead is how many bytes
	// are before the deflated content at most.
	sealed   = len(magic) + 1 + sha256.Size
	overhead = sealed + 5*binary.MaxVarintLen64
	// most is how many shards there are at most. Each is written once in an interval.
	most = 32
	// longest is the length of a shard's content at most. It bounds what a reader needs.
	longest = 8 << 20
	// shortest is less than any container has.
	shortest = 48
)

// The numbers of the fields of Content. They are read one by one, so that a reader needs memory for one at a
// time.
const sourcesField, containersField = 1, 2

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
	// forms has the form of each container, and unpack returns a container from it.
	forms  [][]byte
	unpack func([]byte) (container, error)
	// unknown is what a later version has stored, which this one does not know.
	unknown []byte
}

// errLarge means that a shard does not fit.
var errLarge = errors.New("too large")

// sum identifies a content.
type sum = [sha256.Size]byte

// packer converts contents to bytes. It keeps its memory for the next one.
type packer struct {
	raw      []byte
	form     []byte // of a container
	packed   bytes.Buffer
	deflater *flate.Writer
}

// begin begins a content.
func (p *packer) begin(progress map[string]time.Time, unknown []byte) error {
	p.raw = p.raw[:0]
	for _, source := range slices.Sorted(maps.Keys(progress)) {
		form, err := proto.Marshal(&storedv2.Source{Name: source, ReadNanos: nanos(progress[source])})
		if err != nil {
			return fmt.Errorf("source %q: %w", source, err)
		}
		p.append(sourcesField, form)
	}
	p.raw = append(p.raw, unknown...)
	return nil
}

func (p *packer) append(field protowire.Number, form []byte) {
	p.raw = protowire.AppendBytes(protowire.AppendTag(p.raw, field, protowire.BytesType), form)
}

// add adds a container.
func (p *packer) add(c *container) (err error) {
	if p.form, err = c.append(p.form[:0]); err != nil {
		return err
	}
	if p.append(containersField, p.form); len(p.raw) > longest {
		return errLarge
	}
	return nil
}

// sum returns the sum of the content.
func (p *packer) sum() sum { return sha256.Sum256(p.raw) }

// finish returns the bytes of a shard with the content, if they are not more than limit.
func (p *packer) finish(h header, limit int) ([]byte, error) {
	return p.seal(magic, version, p.raw, h, limit)
}

// seal returns bytes that begin with magic bytes and a version, if they are not more than limit.
func (p *packer) seal(magic string, version byte, raw []byte, h header, limit int) ([]byte, error) {
	p.packed.Reset()
	if p.deflater == nil {
		p.deflater, _ = flate.NewWriter(&p.packed, flate.DefaultCompression)
	} else {
		p.deflater.Reset(&p.packed)
	}
	if _, err := p.deflater.Write(raw); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	if err := p.deflater.Close(); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	if p.packed.Len()+overhead > limit {
		return nil, errLarge
	}
	b := append(append([]byte(magic), version), make([]byte, sha256.Size)...)
	b, err := proto.MarshalOptions{}.MarshalAppend(b, &storedv2.Shard{
		WrittenNanos: h.written.UnixNano(), Index: uint32(h.index), Count: uint32(h.count),
		Length: uint32(len(raw)), Content: p.packed.Bytes(),
	})
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
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

// unseal returns the version of bytes that seal returned, and what follows their checksum.
func unseal(b []byte, magic string, version byte) (found byte, rest []byte, err error) {
	if len(b) < sealed || !bytes.HasPrefix(b, []byte(magic)) || b[len(magic)] == 0 {
		return 0, nil, fmt.Errorf("%w: it does not begin like a checkpoint", errDamaged)
	}
	if found = b[len(magic)]; found > version {
		return 0, nil, laterError{found}
	}
	if check := sha256.Sum256(b[sealed:]); !bytes.Equal(check[:], b[sealed-sha256.Size:sealed]) {
		return 0, nil, fmt.Errorf("%w: its checksum is wrong", errDamaged)
	}
	return found, b[sealed:], nil
}

// unpack returns the header and the content of a shard, and the content's sum.
func unpack(b []byte) (header, content, sum, error) {
	found, rest, err := unseal(b, magic, version)
	if err != nil {
		return header{}, content{}, sum{}, err
	}
	var shard storedv2.Shard
	parse := parse
	if found == 1 {
		parse = version1Content
		version1Shard(rest, &shard)
	} else if err := proto.Unmarshal(rest, &shard); err != nil {
		return header{}, content{}, sum{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	h := header{written: time.Unix(0, shard.WrittenNanos).UTC(), index: int(shard.Index), count: int(shard.Count)}
	if h.count == 0 || h.count > most || h.count&(h.count-1) != 0 || h.index >= h.count || shard.Length > longest {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its header is wrong", errDamaged)
	}
	raw, err := inflate(shard.Content, int(shard.Length))
	if err != nil {
		return header{}, content{}, sum{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	c, err := parse(raw)
	if err != nil {
		return header{}, content{}, sum{}, fmt.Errorf("%w: its content is wrong: %w", errDamaged, err)
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

// errShort means that a container is too short.
var errShort = errors.New("a container is too short")

// parse returns the content, which refers to the bytes.
func parse(raw []byte) (content, error) {
	c := content{progress: map[string]time.Time{}, unpack: unpackContainer}
	err := eachField(raw, func(number protowire.Number, field, value []byte) error {
		switch {
		case number == sourcesField:
			var source storedv2.Source
			if err := proto.Unmarshal(value, &source); err != nil {
				return fmt.Errorf("decode: %w", err)
			}
			c.progress[source.Name] = time.Unix(0, source.ReadNanos).UTC()
		case number != containersField:
			c.unknown = append(c.unknown, field...)
		case len(value) < shortest:
			return errShort
		default:
			c.forms = append(c.forms, value)
		}
		return nil
	})
	return c, err
}

// eachField calls a function with each field of a message: its number, all of its bytes, and its value if that
// has a length.
func eachField(message []byte, do func(number protowire.Number, field, value []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return fmt.Errorf("decode: %w", protowire.ParseError(n))
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[protowire.SizeTag(number):n])
		}
		if err := do(number, message[:n], value); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// addTo adds the containers to a state.
func (c *content) addTo(state *usage.State, now time.Time) error {
	for _, form := range c.forms {
		known, err := c.unpack(form)
		if err == nil {
			err = state.Add(known.Container, known.State, known.ratios, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
