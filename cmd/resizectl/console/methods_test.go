package console

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/pages"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// TestMethods checks that the pages may call the methods that they call, and no others, and that the server wants only rights to read for
// these.
func TestMethods(t *testing.T) {
	server := cmdtest.Answering(scripted())
	r := start(t, server.Serve(t))
	for _, path := range []string{
		"/", "/workloads", "/workloads/shop/Deployment/web", "/pods/shop/web-0", "/nodes?type=n4", "/nodes/node-2", "/plans?plan=1", "/history", "/setup", "/search?q=web",
	} {
		if resp, body := r.get(path); resp.StatusCode != http.StatusOK || strings.Contains(body, "this program does not call") {
			t.Errorf("%s: %s\n%s", path, resp.Status, body)
		}
	}
	taking := map[protoreflect.FullName]string{}
	for name := range access.Methods() {
		if d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", "."))); err == nil {
			taking[d.(protoreflect.MethodDescriptor).Input().FullName()] = name
		}
	}
	called := map[string]bool{}
	for _, req := range server.Requests() {
		called[taking[req.ProtoReflect().Descriptor().FullName()]] = true
	}
	if got, want := slices.Sorted(slices.Values(pages.Methods)), slices.Sorted(maps.Keys(called)); !slices.Equal(got, want) {
		t.Errorf("the pages may call\n%s\nand call\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range pages.Methods {
		rights := access.Methods()[name].Rights
		if len(rights) == 0 || slices.ContainsFunc(rights, func(r access.Right) bool { return !slices.Contains([]string{"get", "list", "watch"}, r.Verb) }) {
			t.Errorf("%s needs %v", name, rights)
		}
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
