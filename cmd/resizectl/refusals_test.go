package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
)

// refusal is a reason of a server error, with its code as the API writes it.
type refusal struct{ reason, code string }

// refusals returns the table of reasons in the reference.
func refusals(t *testing.T) []refusal {
	t.Helper()
	content, err := os.ReadFile("../../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []refusal
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([A-Z_]+) \\|").FindAllStringSubmatch(string(content), -1) {
		all = append(all, refusal{row[1], row[2]})
	}
	if len(all) < 30 {
		t.Fatalf("the reference has a table of only %d reasons", len(all))
	}
	return all
}

// grpcWords matches words that only programs understand.
var grpcWords = regexp.MustCompile(`rpc error|code =|desc =|UNAVAILABLE|NOT_FOUND|_PRECONDITION|_EXHAUSTED|_RANGE|_ARGUMENT|ABORTED|UNAUTHENTICATED|_DENIED|` +
	`Unavailable|NotFound|Precondition|Exhausted|OutOfRange|InvalidArgument|Aborted|Unauthenticated|PermissionDenied`)

func TestRefusals(t *testing.T) {
	t.Run("prints the server's own text for every refusal", printsTheServersOwnTextForEveryRefusal)
}

// For every refusal, users see the server's own message.
func printsTheServersOwnTextForEveryRefusal(t *testing.T) {
	const says = `user "ann" cannot do this in namespace shop; a RoleBinding to the ClusterRole workload-resizer-viewer allows it`
	for _, refused := range refusals(t) {
		t.Run(refused.reason, func(t *testing.T) {
			t.Parallel()
			var code codes.Code
			if err := code.UnmarshalJSON([]byte(`"` + refused.code + `"`)); err != nil {
				t.Fatal(err)
			}
			address := (&cmdtest.Fake{Err: cmdtest.WithReason(code, refused.reason, says)}).Serve(t)
			// A call that reads, one that writes, and a stream.
			for _, args := range [][]string{{"status"}, {"ratios", "set", "n4=1", "--yes"}, {"pause", "-n", "shop"}, {"plan"}, {"resizes", "watch"}, {"usage"}, {"workloads", "list"}, {"nodes", "list"}, {"history", "list"}, {"history", "watch"}} {
				exit, stdout, stderr := program.Shell(t.Context(), append(args, "--server", address)...)
				if exit != command.ExitError || stdout != "" || !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, says) || grpcWords.MatchString(stderr) {
					t.Errorf("%q: exit %d, stdout %q, stderr %q", args, exit, stdout, stderr)
				}
				if code == codes.PermissionDenied && connect.Hints[refused.reason] == "" && stderr != "error: "+says+"\n" {
					t.Errorf("%q: adds something to the server's message about rights: %q", args, stderr)
				}
			}
		})
	}
}
