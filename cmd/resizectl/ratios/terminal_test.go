package ratios

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestTerminal(t *testing.T) {
	t.Run("asks for confirmation at a terminal", asksForConfirmationAtATerminal)
}

func asksForConfirmationAtATerminal(t *testing.T) {
	for _, verb := range [][]string{{"set", "n4=1.2"}, {"delete", "n4"}, {"rollback", "--to", "1"}} {
		for _, tc := range []struct {
			answer string
			code   int
			asked  int
			stderr string
		}{
			{"y\n", command.ExitOK, 2, "Apply? [y/N] "},
			{"\n", command.ExitError, 1, "Apply? [y/N] error: not confirmed, so nothing was changed\n"},
		} {
			server := newWritable()
			var stdout, stderr bytes.Buffer
			streams := genericiooptions.IOStreams{In: cmdtest.OpenTerminal(t).Typed(t, tc.answer), Out: &stdout, ErrOut: &stderr}
			code := program(t.Context(), streams, onRatios(verb, "--server", server.Serve(t)))
			if code != tc.code || !strings.HasSuffix(stderr.String(), tc.stderr) || len(server.Written()) != tc.asked {
				t.Errorf("%q %q: exit %d, %d requests, stderr\n%s", verb, tc.answer, code, len(server.Written()), &stderr)
			}
			if (stdout.Len() > 0) != (tc.code == command.ExitOK) {
				t.Errorf("%q %q: stdout %q", verb, tc.answer, &stdout)
			}
		}
	}
}
