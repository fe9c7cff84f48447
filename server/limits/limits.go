package limits

import "math"

// Limits are what callers can ask for. 0 is no limit.
type Limits struct {
	// CallsPerSecond is how many calls one caller may begin per second on
	// average, and CallBurst in one go. Callers that are Local have no such
	// limit, and of those that are bound to a node each node is one: node agents
	// all have the same account.
	CallsPerSecond float64
	CallBurst      int
	// Previews is how many streams of plans and manifests are worked on at once, of
	// all callers; of one caller half as many. As many changes of ratios are worked
	// on that are only checked.
	Previews int
	// WatchesPerCaller is how many watches one caller may have.
	WatchesPerCaller int
	// StreamsPerConnection is how many calls may be open on one connection.
	StreamsPerConnection uint32
}

// Default are generous for people and programs that behave.
var Default = Limits{CallsPerSecond: 50, CallBurst: 200, Previews: 4, WatchesPerCaller: 100, StreamsPerConnection: 250}

// Streams is StreamsPerConnection as gRPC has it.
func (l Limits) Streams() uint32 {
	if l.StreamsPerConnection == 0 {
		return math.MaxUint32
	}
	return l.StreamsPerConnection
}

const (
	// MessageBytes is how large a request may be.
	MessageBytes = 4 << 20
	// AnswerBytes is how large an answer that may have much in it gets at most, so
	// that callers, who have the same limit, can receive it.
	AnswerBytes = MessageBytes * 3 / 4
)
