package history

import (
	"errors"
	"math"
	"time"
)

// Container is the key of a history: a container of a workload, whose pods come and go.
type Container struct {
	Namespace, Kind, Workload, Name string
}

// Resource is what a sample measures.
type Resource uint8

// The resources.
const (
	CPU Resource = iota
	Memory
)

// Pod is a pod on a node. It is the owner of a container's windows.
type Pod struct {
	// UID distinguishes pods that have had the same name.
	UID string
	// NodeType is the type of the node that the pod runs on.
	NodeType string
}

// Sample is what one container used.
type Sample struct {
	Pod
	Resource Resource
	// At is when the measurement ended, and Length how long it took. A Length of 0 means a
	// moment: of memory, higher usage around it is unknown, so it is no reason to lower a limit.
	At     time.Time
	Length time.Duration
	// Usage is in millicores, on average over the measurement, or in bytes: the peak of the
	// measurement, or the usage at the moment.
	Usage int64
	// Throttled means that the container would have used more CPU without its limit.
	Throttled bool
	// Pressure is the share of the time, from 0 to 1, in which the container waited for the
	// resource; 0 if it is unknown.
	Pressure float64
	// Rank orders sources that measure the same containers. The one with the lowest rank is
	// preferred, and the others stand by.
	Rank uint8
}

// most is the largest usage that counts, in millicores and in bytes, as in the VPA.
const most = 1e14

// Millicores converts cores to the unit of samples. It rounds up, as metrics.k8s.io does, and
// reports whether the number can be a usage.
func Millicores(cores float64) (int64, bool) { return amount(cores * 1000) }

// Bytes converts a number of bytes to the unit of samples.
func Bytes(bytes float64) (int64, bool) { return amount(bytes) }

// amount rounds up. Digits beyond the ninth after the point come from the conversion to binary.
func amount(x float64) (int64, bool) {
	if !(x >= 0 && x <= most) { // NaN, too, is not within these bounds.
		return 0, false
	}
	return int64(math.Ceil(x - 1e-9)), true
}

// Reasons for rejecting a sample or a kill.
var (
	ErrImplausible = errors.New("usage or pressure is negative, too large or not a number")
	ErrTime        = errors.New("the measurement has no time, or takes a negative time")
	ErrFuture      = errors.New("the measurement lies in the future")
	ErrExpired     = errors.New("the measurement is older than the history that is kept")
	ErrRepeated    = errors.New("a measurement of this time, or of a later one, has been counted")
	ErrUnknown     = errors.New("neither the limit of the killed container nor its usage is known")
	ErrStandby     = errors.New("a preferred source measures the container")
)

// Skew is how far clocks of nodes may be ahead. Later samples do not count.
const Skew = time.Minute

// check returns why a measurement cannot count, or nil.
func (s *Sample) check(now time.Time, kept time.Duration) error {
	switch {
	case s.Usage < 0 || s.Usage > most || !(s.Pressure >= 0 && s.Pressure <= 1):
		return ErrImplausible
	case s.At.IsZero() || s.Length < 0:
		return ErrTime
	case s.At.After(now.Add(Skew)):
		return ErrFuture
	case now.Sub(s.At) >= kept:
		return ErrExpired
	}
	return nil
}

// Kill is the end of a container because of its memory.
type Kill struct {
	Pod
	// At is when the container ended. The same kill may be reported several times.
	At time.Time
	// Limit is the memory limit in effect, which the container had reached; 0 if it had none, or
	// if it is unknown.
	Limit int64
	// Request is the memory request in effect. It is no evidence of usage.
	Request int64
	// Usage is what the container used, in bytes, if an eviction says so; otherwise 0.
	Usage int64
}

// check returns why a kill cannot count, or nil.
func (k *Kill) check(now time.Time, kept time.Duration) error {
	switch {
	case k.Usage < 0 || k.Usage > most || k.Limit < 0 || k.Limit > most || k.Request < 0 || k.Request > most:
		return ErrImplausible
	case k.At.IsZero():
		return ErrTime
	case k.At.After(now.Add(Skew)):
		return ErrFuture
	case now.Sub(k.At) >= kept:
		return ErrExpired
	}
	return nil
}

// needed returns the request that a container needs, given what it used when it was killed. Its
// limit must become larger by the bump, and the request in proportion, but it must not be below
// the usage: a limit of twice the request has room for the bump already.
func (k *Kill) needed(used int64, options *Options) int64 {
	bumped := float64(max(used+options.OOMMinBump, int64(float64(used)*options.OOMBump)))
	if k.Limit > k.Request && k.Request > 0 && !options.Compat {
		bumped *= float64(k.Request) / float64(k.Limit)
	}
	return min(max(used, int64(bumped)), most)
}
