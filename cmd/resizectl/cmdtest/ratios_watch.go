package cmdtest

import workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

// RatioEvent is an event that a watch of ratios receives.
type RatioEvent = workloadresizerv1.WatchRatiosResponse

// PresentRatios returns the current state: c3 and n4, then a bookmark, which is the first
// event with a token.
func PresentRatios() []*RatioEvent {
	all := Overridden().GetRatios()
	return []*RatioEvent{
		{Type: addedEvent, Ratio: all[0], Revision: "1"},
		{Type: addedEvent, Ratio: all[2], Revision: "1"},
		{Type: bookmarkEvent, Revision: "1", ResumeToken: "t3"},
	}
}

// ChangedRatio returns the event of n4 after that.
func ChangedRatio() *RatioEvent {
	return &RatioEvent{Type: modifiedEvent, Ratio: Ratios().GetRatios()[2], Revision: "2", ResumeToken: "t4"}
}

// GoneRatio returns the event of c3 after both.
func GoneRatio() *RatioEvent {
	return &RatioEvent{Type: deletedEvent, Ratio: &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1}, Revision: "3", ResumeToken: "t5"}
}
