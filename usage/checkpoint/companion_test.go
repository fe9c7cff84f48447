package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// numbers are a Companion that has a number of bytes for each hash.
type numbers struct {
	all map[uint64][]byte
	// told is how often it was told what is missing, and missing is the last of that.
	told    int
	missing error
	// cannot is why it cannot read anything.
	cannot error
}

func (*numbers) Name() string { return "numbers" }

func (n *numbers) Pack(has func(uint64) bool) (packed []byte) {
	for _, hash := range slices.Sorted(maps.Keys(n.all)) {
		if has(hash) {
			packed = binary.BigEndian.AppendUint64(packed, hash)
			packed = append(binary.BigEndian.AppendUint64(packed, uint64(len(n.all[hash]))), n.all[hash]...)
		}
	}
	return packed
}

func (n *numbers) Restore(packed []byte, has func(uint64) bool) error {
	if n.cannot != nil {
		return n.cannot
	}
	maps.DeleteFunc(n.all, func(hash uint64, _ []byte) bool { return has(hash) })
	for len(packed) > 0 {
		hash, length := binary.BigEndian.Uint64(packed), binary.BigEndian.Uint64(packed[8:])
		if has(hash) {
			n.all[hash] = packed[16 : 16+length]
		}
		packed = packed[16+length:]
	}
	return nil
}

func (n *numbers) Read(missing error) { n.told, n.missing = n.told+1, missing }

// with gives a replica a companion with so many hashes of so many bytes that cannot be deflated.
func (r *replica) with(hashes, length int) *numbers {
	n := &numbers{all: map[uint64][]byte{}}
	random := rand.New(rand.NewPCG(uint64(hashes), 1))
	for range hashes {
		b := make([]byte, length)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		n.all[random.Uint64()] = b
	}
	r.config.Companion = n
	return n
}

// equal fails unless two companions have the same.
func (n *numbers) equal(t *testing.T, want *numbers) {
	t.Helper()
	if len(n.all) != len(want.all) || !maps.EqualFunc(n.all, want.all, bytes.Equal) {
		t.Errorf("%d hashes, want %d", len(n.all), len(want.all))
	}
}

// TestCompanion kills a leader: its successor and others read what it has stored.
func TestCompanion(t *testing.T) {
	c := newCluster(t)
	first := c.replica()
	first.leading = true
	own := first.with(20, 30)
	if own.told != 0 {
		t.Error("told before anything was read")
	}
	c.step(first)
	c.collect(first, 3)
	c.pass(first, 2*Interval)
	second := c.replica()
	second.leading = true
	its := second.with(0, 0)
	c.step(second)
	its.equal(t, own)
	if !second.CaughtUp() || its.told == 0 || its.missing != nil {
		t.Errorf("told %d times, %v missing", its.told, its.missing)
	}
	its.all[1] = []byte("more")
	c.pass(second, 2*Interval)
	third := c.replica()
	read := third.with(0, 0)
	if err := third.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	read.equal(t, its)
	c.same(third.store, second.store)
}

// TestCompanionUnchanged lets time pass in which nothing changes: nothing is written.
func TestCompanionUnchanged(t *testing.T) {
	c := newCluster(t)
	r := c.replica()
	r.leading = true
	own := r.with(5, 30)
	c.pass(r, 2*Interval)
	before := c.stored()["usage-0"].ResourceVersion
	c.pass(r, 2*Interval)
	if now := c.stored()["usage-0"].ResourceVersion; now != before {
		t.Error("it was written again")
	}
	own.all[7] = []byte("more")
	c.pass(r, 2*Interval)
	if now := c.stored()["usage-0"].ResourceVersion; now == before {
		t.Error("a change was not written")
	}
}

// TestCompanionGrows lets a companion take more room than there is next to the history: there are more shards, until all of it has room.
func TestCompanionGrows(t *testing.T) {
	c := newCluster(t)
	r := c.replica()
	r.leading = true
	own := r.with(200, 100)
	r.roomiest = 4000
	c.step(r)
	c.collect(r, 10)
	c.pass(r, 3*Interval)
	n := len(c.stored())
	if err := r.Status().Err; err != nil || n < 8 {
		t.Fatalf("%d shards, %v", n, err)
	}
	c.pass(r, 3*Interval) // They are not too many for the history alone.
	if again := len(c.stored()); again != n {
		t.Errorf("%d shards became %d", n, again)
	}
	for _, shard := range r.Status().Shards {
		if shard.Bytes > 4000 {
			t.Errorf("%d bytes of %s", shard.Bytes, shard.Name)
		}
	}
	other := c.replica()
	read := other.with(0, 0)
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	read.equal(t, own)
	c.same(other.store, r.store)
}

// TestCompanionWithoutRoom lets a companion need more room than there is in the most shards: it is left out, and the history is stored.
func TestCompanionWithoutRoom(t *testing.T) {
	c := newCluster(t)
	r := c.replica()
	r.leading = true
	r.with(600, 100)
	r.roomiest = 1000
	c.step(r)
	c.collect(r, 10)
	c.pass(r, 4*Interval)
	if err := r.Status().Err; err == nil || !strings.Contains(err.Error(), "has no room for the numbers of its workloads") || len(c.stored()) != most {
		t.Errorf("%d shards, %v", len(c.stored()), err)
	}
	other := c.replica()
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.same(other.store, r.store)
}

// TestCompanionUnreadable damages what is stored of a companion, or has it of another version: the history is read as ever, and what is missing is
// known until the leader has stored the companion again.
func TestCompanionUnreadable(t *testing.T) {
	for name, tc := range map[string]struct {
		change func([]byte) []byte
		cannot error
		want   string
	}{
		"damaged":         {func(b []byte) []byte { b[len(b)-1]++; return b }, nil, "it is damaged"},
		"half of it":      {func(b []byte) []byte { return b[:len(b)/2] }, nil, "it is damaged"},
		"a later version": {func(b []byte) []byte { b[len(companionMagic)]++; return b }, nil, "a later version"},
		"another form":    {func(b []byte) []byte { return b }, errors.New("it has another form"), "it has another form"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r := c.replica()
			r.leading = true
			r.with(5, 30)
			c.step(r)
			c.collect(r, 3)
			c.pass(r, 2*Interval)
			cm := c.stored()["usage-0"]
			cm.BinaryData["numbers"] = tc.change(cm.BinaryData["numbers"])
			if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{FieldManager: "test"}); err != nil {
				t.Fatal(err)
			}
			second := c.replica()
			second.leading = true
			its := second.with(0, 0)
			its.cannot = tc.cannot
			c.step(second)
			c.same(second.store, r.store)
			if !second.CaughtUp() || its.missing == nil || !strings.Contains(its.missing.Error(), tc.want) || !strings.Contains(second.Status().Err.Error(), tc.want) {
				t.Errorf("%v is missing, the state is %v", its.missing, second.Status().Err)
			}
			its.cannot, its.all[7] = nil, []byte("again")
			c.pass(second, 2*Interval)
			if err := second.Status().Err; its.missing != nil || err != nil {
				t.Errorf("%v is missing after it was stored again, the state is %v", its.missing, err)
			}
			third := c.replica()
			read := third.with(0, 0)
			if err := third.readAll(t.Context()); err != nil {
				t.Error(err)
			}
			read.equal(t, its)
		})
	}
}

// TestCompanionUnknown lets a version lead that does not know the companion, and then one that does.
func TestCompanionUnknown(t *testing.T) {
	c := newCluster(t)
	first := c.replica()
	first.leading = true
	first.with(5, 30)
	c.step(first)
	c.collect(first, 3)
	c.pass(first, 2*Interval)
	c.clock.Step(time.Minute)
	second := c.leader()
	c.collect(second, 3)
	c.pass(second, 2*Interval)
	if _, has := c.stored()["usage-0"].BinaryData["numbers"]; has {
		t.Error("what nobody knows stays, and would be out of date")
	}
	third := c.replica()
	third.leading = true
	its := third.with(0, 0)
	c.step(third)
	c.same(third.store, second.store)
	if len(its.all) != 0 || its.missing != nil || third.Status().Err != nil {
		t.Errorf("%d hashes, %v is missing, the state is %v", len(its.all), its.missing, third.Status().Err)
	}
}
