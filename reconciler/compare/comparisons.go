package compare

import (
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/ratios/production/stored"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Comparisons keeps what containers use in the current hour, and evidence of the hours before. All methods are safe for concurrent use.
type Comparisons struct {
	seed maphash.Seed
	// part is how many slots a part of an hour has in which there must be samples.
	part int

	mu sync.Mutex
	// usages has the containers with samples. The keys are hashes of the UID of the pod and the name of the container.
	usages map[uint64]usage
	// open is the oldest hour that is not folded, in hours since 1970; 0 before the first sample.
	open     int64
	evidence *evidence.Evidence
	missing  error
	// most is mostContainers, except in tests.
	most int
}

// errUnread means that what is stored has not been read yet.
var errUnread = errors.New("the stored evidence of ratios has not been read yet")

// New returns comparisons without evidence. Until Read, evidence is missing. Containers are measured at least every so often, at most every
// half an hour; the time between two measurements may vary by as much.
func New(every time.Duration) *Comparisons {
	return &Comparisons{
		seed: maphash.MakeSeed(), part: partFor(every), usages: map[uint64]usage{}, evidence: evidence.New(), missing: errUnread, most: mostContainers,
	}
}

// KeyOf returns the key of a workload.
func KeyOf(namespace, kind, name string) evidence.Key {
	return evidence.KeyOf(namespace, kind, name)
}

// Evidence returns a copy of the evidence.
func (c *Comparisons) Evidence() *evidence.Evidence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evidence.Clone()
}

// Missing returns why evidence that was collected may be missing; nil if all of it is known.
func (c *Comparisons) Missing() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing
}

// Name implements checkpoint.Companion.
func (c *Comparisons) Name() string { return "evidence" }

// Pack implements checkpoint.Companion.
func (c *Comparisons) Pack(has func(hash uint64) bool) []byte {
	c.mu.Lock()
	part := c.evidence.Part(selected(has))
	c.mu.Unlock()
	if len(part.Workloads)+len(part.Nodes)+len(part.Types) == 0 {
		return nil
	}
	return stored.Write(part)
}

// Restore implements checkpoint.Companion.
func (c *Comparisons) Restore(b []byte, has func(hash uint64) bool) error {
	part, err := stored.Read(b)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evidence.Replace(part, selected(has))
	return nil
}

// Read implements checkpoint.Companion.
func (c *Comparisons) Read(missing error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing = missing
}

func selected(has func(hash uint64) bool) func(evidence.Key) bool {
	return func(key evidence.Key) bool { return has(uint64(key)) }
}

// key returns the key of a container.
func (c *Comparisons) key(of *pod.Pod, container string) uint64 {
	return maphash.Comparable(c.seed, struct{ uid, container string }{string(of.UID), container})
}

// hourOf returns the number of the hour of a time.
func hourOf(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// startOf returns when an hour begins.
func startOf(hour int64) time.Time { return time.Unix(hour*int64(time.Hour/time.Second), 0) }
