package ratios

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

const implausible = "n4 would not be used: n4 would be 125 times as fast as c3 for cpu, beyond maxSpeedRatio 5: correct the ratio of n4"

func TestPlausible(t *testing.T) {
	t.Run("at a terminal, warns of an implausible ratio before it asks", atATerminalWarnsOfAnImplausibleRatioBeforeItAsks)
	t.Run("without a terminal, an implausible ratio needs a flag", withoutATerminalAnImplausibleRatioNeedsAFlag)
	t.Run("the flag allows nothing without a warning", theFlagAllowsNothingWithoutAWarning)
	t.Run("rows show which factors are used", rowsShowWhichFactorsAreUsed)
	t.Run("warns of ratios that are not used", warnsOfRatiosThatAreNotUsed)
}

func implausibleServer() *writable {
	server := newWritable()
	server.unconfirmed = cmdtest.WithReason(codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", implausible)
	return server
}

// allowed returns whether each of the requests allows implausible ratios.
func allowed(requests []proto.Message) (all []bool) {
	for _, r := range requests {
		all = append(all, r.(interface{ GetAllowImplausible() bool }).GetAllowImplausible())
	}
	return all
}

func atATerminalWarnsOfAnImplausibleRatioBeforeItAsks(t *testing.T) {
	const question = "Apply, although the pods on these node types keep their sizes? [y/N] "
	for _, tc := range []struct {
		answer string
		code   int
		asked  int
		end    string
	}{
		{"y\n", command.ExitOK, 3, question},
		{"n\n", command.ExitError, 2, question + "error: not confirmed, so nothing was changed\n"},
	} {
		server := implausibleServer()
		var stdout, stderr bytes.Buffer
		streams := genericiooptions.IOStreams{In: cmdtest.OpenTerminal(t).Typed(t, tc.answer), Out: &stdout, ErrOut: &stderr}
		code := program(t.Context(), streams, onRatios([]string{"set", "n4=125"}, "--server", server.Serve(t)))
		if code != tc.code || !strings.HasPrefix(stderr.String(), "warning: "+implausible+"\n\nNODE TYPE") || !strings.HasSuffix(stderr.String(), tc.end) {
			t.Errorf("%q: exit %d, stderr\n%s", tc.answer, code, &stderr)
		}
		asked := allowed(server.Written())
		if len(asked) != tc.asked || asked[0] || !asked[1] || !asked[len(asked)-1] {
			t.Errorf("%q: requests that allow implausible ratios: %v", tc.answer, asked)
		}
	}
}

func withoutATerminalAnImplausibleRatioNeedsAFlag(t *testing.T) {
	const warning = "warning: " + implausible + "\n\n"
	for _, verb := range [][]string{{"set", "n4=125"}, {"delete", "n4"}, {"rollback", "--to", "1"}} {
		for _, tc := range []struct {
			flags   []string
			code    int
			allowed []bool
		}{
			{[]string{"--yes"}, command.ExitError, []bool{false}},
			{[]string{"--dry-run=server"}, command.ExitError, []bool{false}},
			{[]string{"--yes", "--allow-implausible"}, command.ExitOK, []bool{false, true, true}},
			{[]string{"--dry-run=server", "--allow-implausible"}, command.ExitDifferences, []bool{false, true}},
		} {
			server := implausibleServer()
			code, _, stderr := program.Shell(t.Context(), append(onRatios(verb, tc.flags...), "--server", server.Serve(t))...)
			refused := stderr == "error: "+implausible+"; to make the change anyway, set --allow-implausible: pods on node types that are not used keep their sizes\n"
			if code != tc.code || refused != (code == command.ExitError) || strings.HasPrefix(stderr, warning) == refused || !slices.Equal(allowed(server.Written()), tc.allowed) {
				t.Errorf("%v %v: exit %d, requests that allow implausible ratios: %v, stderr\n%s", verb, tc.flags, code, allowed(server.Written()), stderr)
			}
		}
	}
}

// Another user may change a ratio between the warning and the write.
func theFlagAllowsNothingWithoutAWarning(t *testing.T) {
	server := newWritable()
	code, _, stderr := program.Shell(t.Context(), append(onRatios([]string{"set", "n4=1.2"}, "--yes", "--allow-implausible"), "--server", server.Serve(t))...)
	if code != command.ExitOK || strings.Contains(stderr, "warning") || !slices.Equal(allowed(server.Written()), []bool{false, false}) {
		t.Errorf("exit %d, requests that allow implausible ratios: %v, stderr\n%s", code, allowed(server.Written()), stderr)
	}
}

func rowsShowWhichFactorsAreUsed(t *testing.T) {
	used, unused := &ratioOf{NodeType: "n4", CpuFactor: 0.8, MemoryFactor: 1}, &ratioOf{NodeType: "n4", CpuFactor: 0.008, MemoryFactor: 1, Implausible: "wrong"}
	for _, tc := range []struct {
		old, new    *ratioOf
		cpu, memory print.Cell
	}{
		{used, unused, print.Cell{Text: "0.8 → not used", Style: print.Notable}, print.Cell{Text: "1 → not used", Style: print.Notable}},
		{unused, used, print.Cell{Text: "not used → 0.8"}, print.Cell{Text: "not used → 1"}},
		{unused, unused, print.Cell{Text: "not used", Style: print.Notable}, print.Cell{Text: "not used", Style: print.Notable}},
	} {
		if cells := ShiftTable(Shift{"n4", tc.old, tc.new}).Rows[0].Cells; cells[3] != tc.cpu || cells[4] != tc.memory {
			t.Errorf("got %v, want %v and %v", cells, tc.cpu, tc.memory)
		}
	}
	if cells := ratioKind(&print.Output{}, nil).Table(unused).Rows[0].Cells; cells[3] != "not used" || cells[4] != "not used" {
		t.Errorf("got %v", cells)
	}
}

func warnsOfRatiosThatAreNotUsed(t *testing.T) {
	server := newWritable()
	server.table.GetRatios()[0].Implausible = "wrong"
	rule := server.rules[0]
	// A rule can have a baseline that makes a node type implausible which it does not name.
	const second = "m9"
	rule.Implausible = map[string]string{second: "wrong, too"}
	first := server.table.GetRatios()[0].GetNodeType()
	for _, tc := range []struct{ verb, want string }{
		{"list", "warning: " + first + " is not used: wrong\n"},
		{"list --rules", "warning: " + first + " is not used: wrong\nwarning: " + second + " is not used by " + rule.GetName() + ": wrong, too\n"},
		{"get " + first, "warning: " + first + " is not used: wrong\n"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append(onRatios(strings.Fields(tc.verb)), "--server", server.Serve(t))...)
		if code != command.ExitOK || stdout == "" || stderr != tc.want {
			t.Errorf("%s: exit %d, stderr\n%s\nwant\n%s", tc.verb, code, stderr, tc.want)
		}
	}
}
