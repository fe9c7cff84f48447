package console

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestHolds checks that the page of a workload shows the holds that cover it, and only commands that would do something.
func TestHolds(t *testing.T) {
	const pause, restore, breaker = workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, workloadresizerv1.HoldKind_HOLD_KIND_BREAKER
	web := cmdtest.WorkloadScope("shop", "Deployment", "web")
	for name, tc := range map[string]struct {
		held []*workloadresizerv1.Hold
		// want are the commands on the page that change something.
		want []string
	}{
		"none":           {nil, []string{"pause deployment/web -n shop", "restore deployment/web -n shop"}},
		"of others":      {[]*workloadresizerv1.Hold{cmdtest.Stored(pause, cmdtest.Carts, "", nil), cmdtest.Stored(restore, cmdtest.Cart, "", nil), cmdtest.Stored(pause, cmdtest.NamespaceScope("bank"), "", nil)}, []string{"pause deployment/web -n shop", "restore deployment/web -n shop"}},
		"a pause":        {[]*workloadresizerv1.Hold{cmdtest.Stored(pause, web, "", nil)}, []string{"resume deployment/web -n shop --kind pause", "restore deployment/web -n shop"}},
		"a restore":      {[]*workloadresizerv1.Hold{cmdtest.Stored(restore, web, "", nil)}, []string{"resume deployment/web -n shop --kind restore"}},
		"a breaker":      {[]*workloadresizerv1.Hold{cmdtest.Stored(breaker, web, "", nil)}, []string{"resume deployment/web -n shop --kind breaker", "pause deployment/web -n shop", "restore deployment/web -n shop"}},
		"of a namespace": {[]*workloadresizerv1.Hold{cmdtest.Stored(pause, cmdtest.Shop, "", nil)}, []string{"resume -n shop --kind pause", "restore deployment/web -n shop"}},
		"of the cluster": {[]*workloadresizerv1.Hold{cmdtest.Stored(restore, cmdtest.Everything, "", nil), cmdtest.Stored(pause, web, "", nil)}, []string{"resume -A --kind restore", "resume deployment/web -n shop --kind pause"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Holds: tc.held}))
			r := start(t, server.Serve(t))
			var want []string
			for _, command := range tc.want {
				want = append(want, "resizectl "+command+" --dry-run=server", "resizectl "+command)
			}
			got := slices.DeleteFunc(r.copied("/workloads/shop/Deployment/web"), func(c string) bool { return strings.HasPrefix(c, "resizectl console ") })
			if !slices.Equal(got, want) {
				t.Errorf("the commands are %q, want %q", got, want)
			}
		})
	}
	t.Run("frozen", func(t *testing.T) {
		r := start(t, cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{
			Freeze: &workloadresizerv1.Freeze{CreateTime: timestamppb.New(cmdtest.Since)}, Holds: []*workloadresizerv1.Hold{cmdtest.Stored(pause, web, "", nil)},
		})).Serve(t))
		if _, body := r.get("/workloads/shop/Deployment/web"); !strings.Contains(body, "The cluster is frozen since ") {
			t.Errorf("the page does not say so: %s", body)
		}
		if got := r.copied("/workloads/shop/Deployment/web"); !slices.Contains(got, "resizectl unfreeze --dry-run=server") || slices.Contains(got, "resizectl restore deployment/web -n shop") {
			t.Errorf("the commands are %q", got)
		}
	})
	t.Run("old", func(t *testing.T) {
		r := start(t, cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Problem: "the API server is away"})).Serve(t))
		if _, body := r.get("/workloads/shop/Deployment/web"); !strings.Contains(body, "that could be read: the API server is away") {
			t.Errorf("the page does not say that holds are old: %s", body)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		r := start(t, cmdtest.Answering(scripted(), cmdtest.Fails("ListHolds", status.Error(codes.PermissionDenied, "no"))).Serve(t))
		if got := r.copied("/workloads/shop/Deployment/web"); !slices.Contains(got, "resizectl resume deployment/web -n shop") {
			t.Errorf("the commands are %q", got)
		}
		if _, body := r.get("/workloads/shop/Deployment/web"); !strings.Contains(body, "Whether it is paused or restored is not known: ") {
			t.Errorf("the page does not say that holds are unknown: %s", body)
		}
	})
}
