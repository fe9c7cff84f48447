package objects

import (
	"bytes"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ratioKind = Kind[*workloadresizerv1.Ratio, *workloadresizerv1.Ratio]{
	Name: (*workloadresizerv1.Ratio).GetNodeType,
	Rows: Itself[*workloadresizerv1.Ratio],
	Columns: []Column[*workloadresizerv1.Ratio]{
		Text("Type", (*workloadresizerv1.Ratio).GetNodeType).RoomFor("a-long-type"),
		Cell("CPU", func(r *workloadresizerv1.Ratio) any { return print.Perf(r.GetCpuPerf()) }),
		Text("Problem", (*workloadresizerv1.Ratio).GetImplausible).IfAny(),
		Cell("Rule", func(*workloadresizerv1.Ratio) any { return print.Marked("", print.Red) }).IfAny(),
		Text("Tag", (*workloadresizerv1.Ratio).GetEtag).Wide(),
	},
	Dim: func(r *workloadresizerv1.Ratio) bool { return r.GetCpuPerf() == 1 },
}

func outputTo(w *bytes.Buffer, format print.Format, color print.ColorMode) *print.Output {
	return &print.Output{IOStreams: genericiooptions.IOStreams{Out: w, ErrOut: w}, Color: &color, Format: format}
}

func TestTable(t *testing.T) {
	plain := &workloadresizerv1.Ratio{NodeType: "n2", CpuPerf: 1}
	fast := &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 1.25, Etag: "e"}
	wrong := &workloadresizerv1.Ratio{NodeType: "n5\n", CpuPerf: 9, Implausible: "too fast"}
	for _, tc := range []struct {
		name   string
		all    []*workloadresizerv1.Ratio
		format print.Format
		color  print.ColorMode
		want   string
	}{
		{"nothing", nil, print.FormatTable, "never", ""},
		{"a column that says nothing", []*workloadresizerv1.Ratio{plain, fast}, print.FormatTable, "never", "TYPE   CPU\nn2     1\nn4     1.25\n"},
		{"a column with one cell", []*workloadresizerv1.Ratio{plain, wrong}, print.FormatTable, "never", "TYPE   CPU   PROBLEM\nn2     1     -\nn5     9     too fast\n"},
		{"wide", []*workloadresizerv1.Ratio{fast}, print.FormatWide, "never", "TYPE   CPU    TAG\nn4     1.25   e\n"},
		{"a row that needs no attention", []*workloadresizerv1.Ratio{plain, fast}, print.FormatTable, "always", "TYPE   CPU\n\x1b[2mn2\x1b[0m     \x1b[2m1\x1b[0m\nn4     1.25\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := outputTo(&out, tc.format, tc.color).Table(ratioKind.Table(tc.all...)); err != nil || out.String() != tc.want {
				t.Errorf("got %q, %v, want %q", out.String(), err, tc.want)
			}
		})
	}
}

// TestEvents checks that a watch has room for texts that follow, and no column that depends on its rows.
func TestEvents(t *testing.T) {
	var out bytes.Buffer
	printer := ratioKind.Events(outputTo(&out, print.FormatTable, "never"))
	for _, event := range []client.RatioEvent{
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, Object: &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 1.25, Implausible: "wrong"}},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED, Object: &workloadresizerv1.Ratio{NodeType: "a-long-type", CpuPerf: 2}},
	} {
		if err := printer.Print(event); err != nil {
			t.Fatal(err)
		}
	}
	want := "EVENT      TYPE          CPU\nadded      n4            1.25\nmodified   a-long-type   2\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestPick(t *testing.T) {
	picked := Pick(ratioKind.Columns, "CPU", "Type")
	if len(picked) != 2 || picked[0].header != "CPU" || picked[1].header != "Type" {
		t.Errorf("got %v", picked)
	}
}
