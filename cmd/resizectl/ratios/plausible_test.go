package ratios

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

const implausible = "n4 would be 125 times as fast as c3 for cpu, beyond maxSpeedRatio 5: correct the ratio of n4"

func TestPlausible(t *testing.T) {
	t.Run("at a terminal, warns of an implausible ratio before it asks", atATerminalWarnsOfAnImplausibleRatioBeforeItAsks)
	t.Run("without a terminal, an implausible ratio needs a flag", withoutATerminalAnImplausibleRatioNeedsAFlag)
	t.Run("warns of ratios that are not used", warnsOfRatiosThatAreNotUsed)
}

func implausibleServer(t *testing.T) *cmdtest.Server {
	server := cmdtest.Writable()
	server.Implausible = cmdtest.WithReason(t, codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", implausible)
	return server
}

// allowed returns whether each of the requests allows an implausible ratio.
func allowed(requests []proto.Message) (all []bool) {
	for _, r := range requests {
		all = append(all, r.(*batch).GetRequests()[0].GetAllowImplausible())
	}
	return all
}

func atATerminalWarnsOfAnImplausibleRatioBeforeItAsks(t *testing.T) {
	const question = "Apply, although this ratio is not used and its pods keep their sizes? [y/N] "
	for _, tc := range []struct {
		answer string
		code   int
		asked  int
		end    string
	}{
		{"y\n", command.ExitOK, 3, question},
		{"n\n", command.ExitError, 2, question + "error: not confirmed, so nothing was changed\n"},
	} {
		server := implausibleServer(t)
		var stdout, stderr bytes.Buffer
		streams := genericiooptions.IOStreams{In: cmdtest.OpenTerminal(t).Typed(t, tc.answer), Out: &stdout, ErrOut: &stderr}
		code := program(t.Context(), streams, onRatios([]string{"set", "n4=125"}, "--server", cmdtest.Serve(t, server)))
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
	for _, tc := range []struct {
		flags []string
		code  int
		asked int
	}{
		{[]string{"--yes"}, command.ExitError, 1},
		{[]string{"--dry-run=server"}, command.ExitError, 1},
		{[]string{"--yes", "--allow-implausible"}, command.ExitOK, 2},
		{[]string{"--dry-run=server", "--allow-implausible"}, command.ExitDifferences, 1},
	} {
		server := implausibleServer(t)
		code, _, stderr := program.Shell(t.Context(), append(onRatios([]string{"set", "n4=125"}, tc.flags...), "--server", cmdtest.Serve(t, server))...)
		refused := strings.Contains(stderr, "error: "+implausible+"\nto store the ratio anyway, use \"resizectl ratios set --allow-implausible\"")
		if code != tc.code || refused != (tc.code == command.ExitError) || len(server.Written()) != tc.asked {
			t.Errorf("%v: exit %d, %d requests, stderr\n%s", tc.flags, code, len(server.Written()), stderr)
		}
	}
}

func warnsOfRatiosThatAreNotUsed(t *testing.T) {
	server := cmdtest.Writable()
	server.Ratios.GetRatios()[0].Implausible = "wrong"
	rule := server.Ratios.GetRules()[0]
	rule.GetRatios()[0].Implausible = "wrong, too"
	first, second := server.Ratios.GetRatios()[0].GetNodeType(), rule.GetRatios()[0].GetNodeType()
	for _, tc := range []struct{ verb, want string }{
		{"list", "warning: " + first + " is not used: wrong\nwarning: " + second + " is not used by " + rule.GetName() + ": wrong, too\n"},
		{"get " + first, "warning: " + first + " is not used: wrong\n"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append(onRatios(strings.Fields(tc.verb)), "--server", cmdtest.Serve(t, server))...)
		if code != command.ExitOK || stdout == "" || stderr != tc.want {
			t.Errorf("%s: exit %d, stderr\n%s\nwant\n%s", tc.verb, code, stderr, tc.want)
		}
	}
}
