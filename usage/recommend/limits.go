package recommend

// LimitMode is how the limit of a resource follows.
type LimitMode uint8

// The ways in which limits follow.
const (
	// Follow keeps the original proportion of the limit to the request.
	Follow LimitMode = iota
	// Keep leaves the original limit, if the request fits into it.
	Keep
	// None removes the limit. It is allowed for CPU only.
	None
	// Multiple sets the limit to a multiple of the request.
	Multiple
)

// Limits are how limits follow from requests.
type Limits struct {
	CPU, Memory LimitMode
	// MemoryMultiple is the multiple of the memory request.
	MemoryMultiple float64
	// MemoryHeadroom is by how much such a limit is at least above the request, in bytes.
	MemoryHeadroom int64
}

// Authored is what the author of a container wrote. A limit of 0 is none.
type Authored struct {
	Request, Limit Amounts
	// Guaranteed means that the pod's class requires limits equal to requests.
	Guaranteed bool
}

// For returns the limits for a request. A container whose author set no limit gets none.
func (l Limits) For(request Amounts, a Authored) Amounts {
	cpu, memory := l.CPU, l.memory(a)
	if a.Guaranteed {
		cpu = Follow
	}
	return Amounts{
		CPU:    l.limit(cpu, request.CPU, a.Request.CPU, a.Limit.CPU),
		Memory: l.limit(memory, request.Memory, a.Request.Memory, a.Limit.Memory),
	}
}

// memory returns how the memory limit of a container follows.
func (l Limits) memory(a Authored) LimitMode {
	switch {
	case a.Guaranteed:
		return Follow
	case l.Memory == None:
		return Keep
	}
	return l.Memory
}

// limit returns the limit of one resource, which is never below the request.
func (l Limits) limit(mode LimitMode, request, authoredRequest, authored int64) int64 {
	if authored == 0 || mode == None {
		return 0
	}
	result := authored
	switch mode {
	case Follow:
		if authoredRequest > 0 {
			result = scale(authored, float64(request)/float64(authoredRequest))
		}
	case Multiple:
		result = max(scale(request, l.MemoryMultiple), request+l.MemoryHeadroom)
	}
	return max(result, request)
}
