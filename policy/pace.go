package policy

import (
	"strconv"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Pace is how quickly pods are resized that can wait. It has no part in the sizes.
type Pace struct {
	// ResizesPerSecond is how many of these pods are resized per second; 0 means no limit. If it is
	// PaceOfProgram, the program decides.
	ResizesPerSecond float64
	// FreedPerHour is how much their resizes may free within an hour, as a share of what all nodes have
	// for pods: at most 1, and 0 means no limit.
	FreedPerHour float64
}

// PaceOfProgram means that the configuration does not set the rate of resizes: the program decides.
const PaceOfProgram = -1

// DefaultResizesPerSecond is that rate in the server. It leaves most of the requests that the API server allows it for
// reads, new pods and reverts.
const DefaultResizesPerSecond = 20

// DefaultFreedPerHour leaves time to notice a wrong ratio before autoscalers have removed the nodes that
// the pods need again.
const DefaultFreedPerHour = 0.25

// Keys implements keys.Section. The least rate keeps typos from stopping all resizes unnoticed.
func (p *Pace) Keys() []keys.Key {
	rate := keys.Number("0.001 to 100000, or 0 for no limit", "must be a number from 0.001 to 100000, such as 20, or 0 for no limit",
		func(f float64) bool { return f == 0 || f >= 0.001 && f <= 100_000 })
	freed := keys.Percentage("up to 1 or 100%, or 0 for no limit", "must be a number from 0 to 1, such as 0.25 or 25%, where 0 means no limit", keys.Within(0, 1))
	return []keys.Key{
		keys.Of("resizesPerSecond", &p.ResizesPerSecond, rate, PaceOfProgram, "how many pods are resized per second that can [wait](../concepts/pace-and-waiting.md)").Or(strconv.Itoa(DefaultResizesPerSecond)),
		keys.Of("freedPerHour", &p.FreedPerHour, freed, DefaultFreedPerHour, "how much their requests may shrink in total within an hour, as a share of what all nodes have for pods (allocatable); for cpu and memory separately. Growing containers of the same pod count against it. While pods wait in several namespaces, those in one of them free up to half of it"),
	}
}

// Rates returns both values. perSecond is what the program decides.
func (p Pace) Rates(perSecond float64) (resizesPerSecond, freedPerHour float64) {
	if p.ResizesPerSecond != PaceOfProgram {
		perSecond = p.ResizesPerSecond
	}
	return perSecond, p.FreedPerHour
}
