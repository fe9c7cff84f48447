package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
)

// Companion is something else that is stored with the history, in parts that are selected by hashes. Each part is next to a shard, under a key of its own.
// Nothing that is wrong with it is wrong with the history: it gets the room that the history and the trends leave, it is left out where there is none,
// and it begins again where it cannot be read.
type Companion interface {
	// Name is the key in ConfigMaps, and the name in errors.
	Name() string
	// Pack returns a part; nil if there is nothing in it. While nothing changes, it returns the same bytes.
	Pack(has func(hash uint64) bool) []byte
	// Restore replaces a part with what Pack returned, in any process and version. After an error, the part is as it was.
	Restore(packed []byte, has func(hash uint64) bool) error
	// Read receives, whenever ConfigMaps were read or written, why parts are missing that were stored; nil if none are.
	Read(missing error)
}

const (
	companionMagic   = "wr-extra"
	companionVersion = 1
)

// companion is what is stored of a Companion next to a shard.
type companion struct {
	// sum identifies it, and size is the number of bytes.
	sum  sum
	size int
	// sealed are the bytes to write, and packed is what was read, until the Companion has it.
	sealed, packed []byte
	// err is why it cannot be read.
	err error
	// left means that there is no room for it.
	left bool
}

// selects reports whether a hash belongs to the shard. It must never change.
func (h header) selects(hash uint64) bool { return int(uint32(hash^hash>>32)%most)%h.count == h.index }

// packCompanion packs the part of a shard into some room. If it does not fit, the error is errLarge, or else it is left out.
func (k *Keeper) packCompanion(h header, room int) (companion, error) {
	if k.config.Companion == nil {
		return companion{}, nil
	}
	raw := k.config.Companion.Pack(h.selects)
	if raw == nil {
		return companion{}, nil
	}
	sealed, err := []byte(nil), errLarge
	if len(raw) <= longest {
		sealed, err = k.packer.seal(companionMagic, companionVersion, raw, h, room)
	}
	switch {
	case err == nil:
		return companion{sealed: sealed, size: len(sealed), sum: sha256.Sum256(raw)}, nil
	case h.count < most || !errors.Is(err, errLarge):
		return companion{}, err
	}
	return companion{left: true}, nil
}

// leftOut returns an error if it is not stored.
func (c *companion) leftOut(k *Keeper, target string) error {
	if !c.left {
		return nil
	}
	return fmt.Errorf("ConfigMap %s/%s has no room for the %s of its workloads, which begins again after a restart", k.config.Namespace, target, k.config.Companion.Name())
}

// readCompanion reads what is stored next to a shard.
func (k *Keeper) readCompanion(data map[string][]byte) (c companion) {
	if k.config.Companion == nil {
		return companion{}
	}
	b := data[k.config.Companion.Name()]
	if len(b) == 0 {
		return companion{} // A version that does not know it may have written the shard.
	}
	c.size, c.sum = len(b), sha256.Sum256(b)
	if c.packed, c.err = unpackCompanion(b); c.err == nil {
		c.sum = sha256.Sum256(c.packed)
	}
	return c
}

func unpackCompanion(b []byte) ([]byte, error) {
	_, rest, err := unseal(b, companionMagic, companionVersion)
	if err != nil {
		return nil, err
	}
	var shard storedv2.Shard
	if err := proto.Unmarshal(rest, &shard); err != nil || shard.GetLength() > longest {
		return nil, fmt.Errorf("%w: its header is wrong", errDamaged)
	}
	raw, err := inflate(shard.GetContent(), int(shard.GetLength()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return raw, nil
}

// restoreCompanion passes the Companion what was read with a ConfigMap.
func (k *Keeper) restoreCompanion(c *stored) {
	if packed := c.companion.packed; packed != nil {
		c.companion.packed, c.companion.err = nil, k.config.Companion.Restore(packed, c.selects)
	}
}

// tellCompanion tells the Companion what is missing, once all that is stored has been read.
func (k *Keeper) tellCompanion() {
	if k.config.Companion == nil || !k.HasRead() {
		return
	}
	var missing []error
	for _, c := range k.shards() {
		missing = append(missing, k.companionFault(c))
	}
	k.config.Companion.Read(join(missing...))
}

// companionFault returns why what is stored next to a shard cannot be read; nil if it can be.
func (k *Keeper) companionFault(c *stored) error {
	if c.companion.err == nil {
		return nil
	}
	return fmt.Errorf("ConfigMap %s/%s: the %s of workloads cannot be read, and begins again: %w", k.config.Namespace, c.name, k.config.Companion.Name(), c.companion.err)
}
