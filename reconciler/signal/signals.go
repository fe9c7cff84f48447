package signal

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Sample is how a container fared in some time.
type Sample struct {
	// At is when the measurement ended, and Length how long it took.
	At     time.Time
	Length time.Duration
	guard.Strain
}

// Signals keeps how containers fared. All methods are safe for concurrent use.
type Signals struct {
	seed maphash.Seed

	mu sync.Mutex
	// usual has all containers, and observed those whose pod was resized lately. The keys are hashes of
	// the UID of the pod and the name of the container.
	usual    map[uint64]usual
	observed map[uint64]*observation
	// swept is when both were last swept.
	swept time.Time
}

// observation is how a container fared before a resize, and since then.
type observation struct {
	guard.Fared
	// began is the resize with which it began. resized is when the pod was last resized, and until is when
	// that has proven itself.
	began, resized, until time.Time
}

// New returns signals of no container.
func New() *Signals {
	return &Signals{seed: maphash.MakeSeed(), usual: map[uint64]usual{}, observed: map[uint64]*observation{}}
}

const (
	// lately is how old a sample may be.
	lately = 15 * time.Minute
	// Brief is the time in which shares say little: anything is throttled for a moment.
	Brief = 30 * time.Second
)

// Take takes a sample of a container of a pod. It reports whether the plan of the pod may differ because of
// it.
func (s *Signals) Take(of *pod.Pod, container string, sample *Sample, settings *ratios.GuardSettings, now time.Time) (changed bool) {
	if now.Sub(sample.At) > lately {
		return false
	}
	if sample.Length < Brief {
		sample.Throttled, sample.CPUPressure, sample.MemoryPressure = guard.Value{}, guard.Value{}, guard.Value{}
	}
	key, resized := s.key(of, container), of.ResizedAt()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.swept) > slot {
		s.sweep(now)
	}
	if !settings.Enabled || !guard.Observed(of, settings.Window, sample.At) {
		u := s.usual[key]
		u.add(sample)
		s.usual[key] = u
		return false
	}
	spans := sample.At.Add(-sample.Length).Before(resized)
	// The time of a resize has no fraction of a second: a long sample that ends in that second is of the time before.
	if !sample.At.After(resized) || spans && sample.Length >= Brief && sample.At.Sub(resized) < time.Second {
		return s.late(key, sample)
	}
	o := s.observe(key, resized, settings.Window)
	if spans {
		return false // Nobody knows what was before.
	}
	before := o.Since
	o.Since = o.Since.Max(&sample.Strain)
	return o.Since != before
}

// late takes a sample of the time before a resize that was on its way when the pod was resized. It may even
// arrive after an urgent one of the time since then. An earlier resize, which has not proven itself either,
// must not hide what was before it.
func (s *Signals) late(key uint64, sample *Sample) (changed bool) {
	o := s.observed[key]
	if o != nil && sample.At.Sub(o.began) >= time.Second {
		return false
	}
	u := s.usual[key]
	u.add(sample)
	s.usual[key] = u
	if o == nil {
		return false
	}
	before := o.Before
	o.Before = u.before(o.began)
	return o.Before != before
}

// observe returns the observation of a container, which begins with what is usual for it. If an earlier
// resize has not proven itself either, the time before that counts, as in the record of the pod.
func (s *Signals) observe(key uint64, resized time.Time, window time.Duration) *observation {
	o := s.observed[key]
	switch {
	case o == nil || !resized.Before(o.until):
		o = &observation{began: resized}
		u := s.usual[key]
		o.Before = u.before(resized)
		s.observed[key] = o
	case !o.resized.Equal(resized):
		o.Since = guard.Strain{}
	}
	o.resized, o.until = resized, resized.Add(window)
	return o
}

// Of returns how a container of a pod fared.
func (s *Signals) Of(of *pod.Pod, container string) guard.Fared {
	key, resized := s.key(of, container), of.ResizedAt()
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.observed[key]; o != nil && resized.Before(o.until) {
		f := o.Fared
		if !o.resized.Equal(resized) {
			f.Since = guard.Strain{} // The first sample since the resize has not arrived yet.
		}
		return f
	}
	u := s.usual[key]
	return guard.Fared{Before: u.before(resized)}
}

// key returns the key of a container.
func (s *Signals) key(of *pod.Pod, container string) uint64 {
	return maphash.Comparable(s.seed, struct{ uid, container string }{string(of.UID), container})
}

// sweep releases what is too old to count.
func (s *Signals) sweep(now time.Time) {
	s.swept = now
	for key, o := range s.observed {
		if now.Sub(o.until) > lately {
			delete(s.observed, key)
		}
	}
	for key, u := range s.usual {
		if now.Sub(time.Unix(int64(u.slot)*int64(slot/time.Second), 0)) > kept {
			delete(s.usual, key)
		}
	}
}

// Len returns of how many containers anything is known, and how many of them are observed.
func (s *Signals) Len() (all, observed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.usual), len(s.observed)
}
