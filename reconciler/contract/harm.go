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
	// Throttled: a container whose cpu limit was lowered is throttled more than before.
	Throttled Harm = "Throttled"
	// CPUPressure: a container whose cpu was lowered waits for cpu longer than before.
	CPUPressure Harm = "CPUPressure"
	// MemoryPressure: a container whose memory was lowered waits for memory longer than before.
	MemoryPressure Harm = "MemoryPressure"
	// NearLimit: a container is about to reach the memory limit that was lowered.
	NearLimit Harm = "NearLimit"
	// Objective: the pod or its workload breaks an objective of its rule that it met before.
	Objective Harm = "Objective"
)

// Harms lists all of them.
var Harms = []Harm{OOMKilled, Restarts, NotReady, Throttled, CPUPressure, MemoryPressure, NearLimit, Objective}
