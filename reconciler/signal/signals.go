package signal

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
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
	// cpuMade and memoryMade are until when the node had not made the resize: samples that began before do not
	// come from it.
	cpuMade, memoryMade time.Time
	// restarts is how often the container had restarted, and started when that became known last: shares of
	// samples that began before come from the start.
	restarts int32
	started  time.Time
}

// New returns signals of no container.
func New() *Signals {
	return &Signals{seed: maphash.MakeSeed(), usual: map[uint64]usual{}, observed: map[uint64]*observation{}}
}

const (
	// Lately is how old a sample may be.
	Lately = 15 * time.Minute
	// Brief is the time in which shares say little: anything is throttled for a moment.
	Brief = 30 * time.Second
	// arriving is how long a sample takes to arrive that is sent when its measurement ends.
	arriving = 10 * time.Second
	// starting is how long a pod starts: its shares are high, and are forgotten when later ones are known.
	starting = 2 * time.Minute
)

// Take takes a sample of a container of a pod. It reports whether the plan of the pod may differ because of
// it.
func (s *Signals) Take(of *pod.Pod, container string, sample *Sample, settings *policy.Guard, now time.Time) (changed bool) {
	if now.Sub(sample.At) > Lately {
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
		s.addUsual(key, of, sample)
		return false
	}
	c := containerOf(of, container)
	if c == nil {
		return false
	}
	from := sample.At.Add(-sample.Length)
	spans := from.Before(resized)
	// The time of a resize has no fraction of a second: a long sample that ends in that second is of the time before.
	if !sample.At.After(resized) || spans && sample.Length >= Brief && sample.At.Sub(resized) < time.Second {
		return s.late(key, of, sample)
	}
	o := s.observe(key, of, c, settings.Window)
	cpu, memory := guard.Waits(of, c)
	if cpu {
		o.cpuMade = now.Add(-arriving)
	}
	if memory {
		o.memoryMade = now.Add(-arriving)
	}
	if c.RestartCount() > o.restarts {
		o.restarts, o.started = c.RestartCount(), now
	}
	if spans {
		return false // Nobody knows what was before.
	}
	starts := from.Before(o.started)
	if starts || from.Before(o.cpuMade) {
		sample.Throttled, sample.CPUPressure = guard.Value{}, guard.Value{}
	}
	if starts || from.Before(o.memoryMade) {
		sample.MemoryPressure = guard.Value{}
	}
	if from.Before(o.memoryMade) { // The memory itself does not come from its limit.
		sample.LimitEvents = guard.Value{}
	}
	before := o.Since
	o.Since = o.Since.Max(&sample.Strain)
	return o.Since != before
}

// addUsual adds a sample to what is usual for a container.
func (s *Signals) addUsual(key uint64, of *pod.Pod, sample *Sample) usual {
	u := s.usual[key]
	if u.admits(sample.At.Add(-sample.Length).Before(of.StartedAt().Add(starting))) {
		u.add(sample)
	}
	s.usual[key] = u
	return u
}

// late takes a sample of the time before a resize that was on its way when the pod was resized. It may even
// arrive after an urgent one of the time since then. An earlier resize, which has not proven itself either,
// must not hide what was before it.
func (s *Signals) late(key uint64, of *pod.Pod, sample *Sample) (changed bool) {
	o := s.observed[key]
	if o != nil && sample.At.Sub(o.began) >= time.Second {
		return false
	}
	u := s.addUsual(key, of, sample)
	if o == nil {
		return false
	}
	before, more := o.Before, u.before(o.began)
	o.Before = before.Max(&more)
	return o.Before != before
}

// observe returns the observation of a container, which begins with what is usual for it. If an earlier
// resize has not proven itself either, the time before that counts, as in the record of the pod.
func (s *Signals) observe(key uint64, of *pod.Pod, c *pod.Container, window time.Duration) *observation {
	o, resized := s.observed[key], of.ResizedAt()
	switch {
	case o == nil || !resized.Before(o.until):
		o = &observation{began: resized, Fared: guard.Fared{Before: s.before(key, resized)}, restarts: c.RestartCount()}
		if was, known := of.AppliedSizes().Of(c.Name(), 0); known {
			o.restarts = was.Restarts
		}
		s.observed[key] = o
	case !o.resized.Equal(resized):
		o.Since = guard.Strain{}
	}
	o.resized, o.until = resized, resized.Add(window)
	return o
}

// before returns how a container fared before a resize that begins an observation. If a longer observation
// has just ended, as before the next step of a size that is lowered in steps, only that knows it.
func (s *Signals) before(key uint64, resized time.Time) guard.Strain {
	u := s.usual[key]
	fared := u.before(resized)
	if o := s.observed[key]; o != nil && slotOf(resized)-slotOf(o.until) <= 1 {
		fared = fared.Or(&o.Since)
	}
	return fared
}

// containerOf returns a container of a pod; nil if it has none with the name.
func containerOf(of *pod.Pod, name string) *pod.Container {
	for i := range of.Containers {
		if of.Containers[i].Name() == name {
			return &of.Containers[i]
		}
	}
	return nil
}

// Memory returns the most memory that a container has used within the last minutes, and the most that was charged to it,
// in bytes; 0 for what is unknown.
func (s *Signals) Memory(of *pod.Pod, container string, now time.Time) (used, charged int64) {
	key := s.key(of, container)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usual[key]
	strain := u.before(now)
	if o := s.observed[key]; o != nil {
		strain = strain.Max(&o.Since)
	}
	return int64(strain.Memory.N), int64(strain.Charged.N)
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
	return guard.Fared{Before: s.before(key, resized)}
}

// key returns the key of a container.
func (s *Signals) key(of *pod.Pod, container string) uint64 {
	return maphash.Comparable(s.seed, struct{ uid, container string }{string(of.UID), container})
}

// Forget releases what is known of a pod that no longer exists: it may have been observed for days.
func (s *Signals) Forget(of *pod.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range of.Containers {
		key := s.key(of, of.Containers[i].Name())
		delete(s.usual, key)
		delete(s.observed, key)
	}
}

// sweep releases what is too old to count.
func (s *Signals) sweep(now time.Time) {
	s.swept = now
	for key, o := range s.observed {
		if now.Sub(o.until) > Lately {
			delete(s.observed, key)
		}
	}
	for key, u := range s.usual {
		if int16(slotOf(now)-u.slot) >= kept {
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
