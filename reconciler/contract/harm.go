package contract

// Harm is how a resize made a pod worse. The API, annotations and metrics use the same word.
type Harm string

const (
	// OOMKilled: a container whose memory was lowered was killed for lack of memory.
	OOMKilled Harm = "OOMKilled"
	// Restarts: a container failed and restarted more often than before.
	Restarts Harm = "Restarts"
	// NotReady: the pod was ready before, and has not been ready for a long time.
	NotReady Harm = "NotReady"
)

// Harms lists all of them.
var Harms = []Harm{OOMKilled, Restarts, NotReady}
