package console

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/pages"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// TestMethods checks that the pages may call all methods of the API for which the server wants only rights to read, and no others.
func TestMethods(t *testing.T) {
	var want []string
	for name, method := range access.Methods() {
		writes := slices.ContainsFunc(method.Rights, func(r access.Right) bool { return !slices.Contains([]string{"get", "list", "watch"}, r.Verb) })
		if strings.HasPrefix(name, "/workloadresizer.v1.") && !writes {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(pages.Methods))
	if !slices.Equal(got, want) {
		t.Errorf("the pages may call\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) < 20 {
		t.Errorf("the server has only %d methods that read", len(want))
	}
}

// TestOpened checks that the connection of the pages refuses to write, even if a page tried to, and that commands lead to its server even
// where no variable selects that.
func TestOpened(t *testing.T) {
	fake := cmdtest.Answering()
	address := fake.Serve(t)
	t.Setenv("RESIZECTL_SERVER", address)
	connection := connect.New(&cobra.Command{}, io.Discard, "test", false)
	opened, err := connection.Open(t.Context(), pages.Methods...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	if got, want := connection.Commands("resizectl holds", "resizectl"), "resizectl --server='"+address+"' holds"; got != want || opened.Identity().Server != address {
		t.Errorf("%s of %+v, want %s", got, opened.Identity(), want)
	}
	err = opened.Ask(t.Context(), func(ctx context.Context, c *client.Client) error {
		if _, err := c.Pause(ctx, &workloadresizerv1.PauseRequest{}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("a pause ends with %v", err)
		}
		_, err := c.Status(ctx)
		return err
	})
	if err != nil || len(fake.Requests()) != 1 {
		t.Errorf("%v, %d requests", err, len(fake.Requests()))
	}
}
