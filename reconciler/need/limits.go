package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// LimitMode is how the limit of a resource follows a recommended request.
type LimitMode uint8

// The ways in which limits follow.
const (
	// Follow keeps the original proportion of the limit to the request.
	Follow LimitMode = iota
	// Keep leaves the original limit, if the request fits into it.
	Keep
	// None removes the limit where that is possible, which it is not in a resize. It is allowed for CPU only.
	None
	// Multiple sets the limit to a multiple of the request.
	Multiple
	// Peak sets the limit to a multiple of the highest usage that is known. It is allowed for memory only.
	Peak
)

// apart reports whether a limit is raised even if the request stays, and lowered later than the request.
func (m LimitMode) apart() bool { return m == Multiple || m == Peak }

// Limits are how limits follow from requests.
type Limits struct {
	CPU, Memory LimitMode
	// MemoryMultiple is the multiple of the memory request, or of the highest usage.
	MemoryMultiple float64
	// MemoryHeadroom is by how much a multiple of the request is at least above the request, in bytes.
	MemoryHeadroom int64
}

// For returns the limit for a request, given what the author wrote; 0 for none. A container whose author set no limit
// gets none. The highest usage is not known. guaranteed means that the class of the pod requires limits equal to requests.
func (l *Limits) For(m *sizing.Measure, request int64, authored sizing.Amount, guaranteed bool) int64 {
	return l.limit(l.mode(m, guaranteed), request, 0, authored)
}

// mode returns how the limit of a resource follows.
func (l *Limits) mode(m *sizing.Measure, guaranteed bool) LimitMode {
	switch {
	case guaranteed:
		return Follow
	case m == sizing.CPU:
		return l.CPU
	case l.Memory == None:
		return Keep
	}
	return l.Memory
}

// limit returns the limit of a resource, which is never below the request. Without a peak, nothing is known of it.
func (l *Limits) limit(mode LimitMode, request, peak int64, authored sizing.Amount) int64 {
	if authored.Limit == 0 || mode == None {
		return 0
	}
	limit := authored.Limit
	switch mode {
	case Follow:
		if authored.Request > 0 { // Exactly: the QoS class may depend on it.
			limit = min(sizing.Factor{Num: uint64(request), Den: uint64(authored.Request)}.Down(limit), sizing.Memory.Most)
		}
	case Multiple:
		limit = max(times(request, l.MemoryMultiple), request+l.MemoryHeadroom)
	case Peak:
		if peak > 0 {
			limit = max(times(peak, l.MemoryMultiple), abovePeak(peak))
		}
	}
	return max(limit, request)
}

// times returns a multiple of an amount, rounded down, up to the largest valid amount of any resource.
func times(amount int64, factor float64) int64 {
	return int64(min(float64(amount)*factor, float64(sizing.Memory.Most)))
}
