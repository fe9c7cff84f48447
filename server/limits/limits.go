package limits

import "math"

// Limits are the limits for callers. 0 means no limit.
type Limits struct {
	// CallsPerSecond is how many calls one caller may begin per second on average, and
	// CallBurst how many in a burst. Local callers have no such limit. Callers that are bound to
	// a node are limited per node, because all node agents have the same account.
	CallsPerSecond float64
	CallBurst      int
	// Previews is how many streams of plans and manifests may be processed at the same time for
	// all callers: half as many for one user or the ServiceAccounts of one namespace, and half of
	// these for one ServiceAccount. The same limit applies separately to ratio changes that are
	// only validated, and to the progress of holds.
	Previews int
	// WatchesPerCaller is the maximum number of watches of one caller.
	WatchesPerCaller int
	// Connections is the maximum number of open connections, a quarter of which may belong to
	// unknown callers.
	Connections int
	// StreamsPerConnection is the maximum number of open calls on one connection.
	StreamsPerConnection uint32
}

// Default is generous for well-behaved users and programs.
var Default = Limits{CallsPerSecond: 50, CallBurst: 200, Previews: 8, WatchesPerCaller: 100, Connections: 2048, StreamsPerConnection: 250}

// Streams returns StreamsPerConnection in the form that gRPC expects.
func (l Limits) Streams() uint32 {
	if l.StreamsPerConnection == 0 {
		return math.MaxUint32
	}
	return l.StreamsPerConnection
}

const (
	// MessageBytes is the maximum size of a message of a request. Larger requests are streams
	// of messages.
	MessageBytes = 64 << 10
	// AnswerBytes is the maximum size of a response that can be large. Callers receive up to
	// 4 MiB by default.
	AnswerBytes = 3 << 20
)
