package contract

// Harm is how a resize made a pod worse. The API, annotations and metrics use the same word.
type Harm string

const (
	// OOMKilled: a container was killed for lack of memory. Reverted: memory of that container.
	OOMKilled Harm = "OOMKilled"
	// Restarts: a container restarted at least `restarts` times more than before, and failed the last time, or has a liveness
	// or startup probe. Reverted: cpu and memory of that container.
	Restarts Harm = "Restarts"
	// NotReady: the pod was ready before, and a container has not been ready for longer than `unready`. Reverted: cpu and
	// memory of that container.
	NotReady Harm = "NotReady"
	// Throttled: a container is throttled in more than `throttling` of the periods of its cpu limit. Reverted: cpu of that
	// container, if its limit was lowered.
	Throttled Harm = "Throttled"
	// CPUPressure: a container waits for cpu in more than `pressure.cpu` of the time. Reverted: cpu of that container.
	CPUPressure Harm = "CPUPressure"
	// MemoryPressure: a container waits for memory in more than `pressure.memory` of the time. Reverted: memory of that
	// container.
	MemoryPressure Harm = "MemoryPressure"
	// NearLimit: a container uses more than `memoryUse` of its memory limit, or more than 80% while it reaches the limit for
	// the first time: it is about to be killed. Reverted: memory of that container, if its limit was lowered.
	NearLimit Harm = "NearLimit"
	// Objective: the pod or its workload breaks an objective that it met before. Reverted: cpu and memory of all its
	// containers.
	Objective Harm = "Objective"
)

// Harms lists all of them.
var Harms = []Harm{OOMKilled, Restarts, NotReady, Throttled, CPUPressure, MemoryPressure, NearLimit, Objective}
