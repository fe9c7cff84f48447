package main

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type ratioEvent = workloadresizerv1.WatchRatiosResponse

// present is the present state: c3 and n4, then a bookmark, the first with a token.
func present() []*ratioEvent {
	all := overridden().GetRatios()
	return []*ratioEvent{
		{Type: addedEvent, Ratio: all[0], Revision: "1"},
		{Type: addedEvent, Ratio: all[2], Revision: "1"},
		{Type: bookmarkEvent, Revision: "1", ResumeToken: "t3"},
	}
}

func changed() *ratioEvent {
	return &ratioEvent{Type: modifiedEvent, Ratio: ratios().GetRatios()[2], Revision: "2", ResumeToken: "t4"}
}

func gone() *ratioEvent {
	return &ratioEvent{Type: deletedEvent, Ratio: &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1}, Revision: "3", ResumeToken: "t5"}
}

func TestRatiosWatch(t *testing.T) {
	for _, tc := range []struct {
		golden, seen string
		args         []string
	}{
		{"ratios-watch.table", "deleted", nil},
		{"ratios-watch.wide", "deleted", []string{"-o", "wide"}},
		{"ratios-watch.color", "deleted", []string{"--color", "always"}},
		{"ratios-watch.json", `"t5"`, []string{"-o", "json"}},
		{"ratios-watch.yaml", "t5", []string{"-o", "yaml"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			server := &scripted{}
			server.watches.next = []scriptedStream[*ratioEvent]{{events: append(present(), changed(), gone())}}
			code, stdout, stderr := watchUntil(t, tc.seen, append([]string{"ratios", "watch", "--server", serve(t, server)}, tc.args...)...)
			if code != command.ExitInterrupted || stderr != "" {
				t.Errorf("exit %d, stderr %q; want 130 and nothing", code, stderr)
			}
			golden(t, tc.golden, stdout)
		})
	}
}
