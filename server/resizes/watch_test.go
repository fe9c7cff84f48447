package resizes

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// revocable is a viewer whose callers see everything until it is true. Its views never
// change.
type revocable struct{ atomic.Bool }

func (r *revocable) View(context.Context) access.View {
	if r.Load() {
		return servertest.Only()
	}
	return servertest.All
}

// resizeStream is a stream that counts its events.
type resizeStream struct {
	grpc.ServerStream
	ctx    context.Context
	events atomic.Int64
}

func (s *resizeStream) Context() context.Context { return s.ctx }
func (s *resizeStream) Send(m *workloadresizerv1.WatchResizesResponse) error {
	if m.GetResize() != nil {
		s.events.Add(1)
	}
	return nil
}

// complete returns a history without resizes.
func complete() *history { return (&podWatch{}).history() }

func TestWatch(t *testing.T) {
	t.Run("a resize that enters or leaves the selection is added or deleted", aResizeThatEntersOrLeavesTheSelection)
	t.Run("a token is valid only for the same selection", aTokenIsValidOnlyForTheSameSelection)
	t.Run("a revoked right ends or limits a watch within a minute", aRevokedRightEndsOrLimitsAWatchWithinAMinute)
}

func aRevokedRightEndsOrLimitsAWatchWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewer := &revocable{}
		f := complete()
		service := &Service{config: Config{Viewer: viewer, Watches: streams.NewWatches()}, history: f}
		ctx, cancel := context.WithCancel(t.Context())
		cluster, shop := &resizeStream{ctx: ctx}, &resizeStream{ctx: ctx}
		ended := make(chan error, 2)
		go func() { ended <- service.WatchResizes(&workloadresizerv1.WatchResizesRequest{}, cluster) }()
		go func() { ended <- service.WatchResizes(&workloadresizerv1.WatchResizesRequest{Namespace: "shop"}, shop) }()
		happen := func(inCluster, inShop int64) {
			t.Helper()
			for _, namespace := range []string{"shop", "bank"} {
				r := &query.Resized{Pod: types.NamespacedName{Namespace: namespace, Name: "web"}}
				f.Update(changelog.Place{}, changelog.Change[query.Resized]{Key: r.Pod.String(), Item: r})
			}
			synctest.Wait()
			if a, s := cluster.events.Load(), shop.events.Load(); a != inCluster || s != inShop {
				t.Errorf("%d and %d events, want %d and %d", a, s, inCluster, inShop)
			}
		}
		synctest.Wait()
		happen(2, 1)
		viewer.Store(true)
		time.Sleep(viewFor + time.Second)
		happen(2, 1)
		servertest.CheckError(t, <-ended, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
		cancel()
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("ended with %v", err)
		}
	})
}

func aResizeThatEntersOrLeavesTheSelection(t *testing.T) {
	pending, failed := workloadresizerv1.ResizeState_RESIZE_STATE_PENDING, workloadresizerv1.ResizeState_RESIZE_STATE_FAILED
	resize := func(namespace, app string, state query.ResizeState) *query.Resized {
		k := pod.From(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}})
		return &query.Resized{Pod: types.NamespacedName{Namespace: namespace, Name: "web"}, State: state, Labels: k.Labels()}
	}
	web := &workloadresizerv1.WatchResizesRequest{Namespace: "shop", LabelSelector: "app=web", States: []workloadresizerv1.ResizeState{pending, failed}}
	in := resize("shop", "web", query.Pending)
	for _, tc := range []struct {
		name        string
		before, now *query.Resized
		want        string
	}{
		{"new and selected", nil, in, "added"},
		{"new and not selected", nil, resize("shop", "db", query.Pending), ""},
		{"changed within the selection", in, resize("shop", "web", query.Failed), "modified"},
		{"entered by its state", resize("shop", "web", query.Actuated), in, "added"},
		{"entered by its labels", resize("shop", "db", query.Pending), in, "added"},
		{"left by its state", in, resize("shop", "web", query.Actuated), "deleted"},
		{"left by its labels", in, resize("shop", "db", query.Pending), "deleted"},
		{"changed outside of the selection", resize("shop", "db", query.Pending), resize("shop", "db", query.Failed), ""},
		{"in another namespace", resize("bank", "web", query.Pending), resize("bank", "web", query.Failed), ""},
		{"deleted from the selection", in, nil, "deleted"},
		{"deleted outside of the selection", resize("shop", "db", query.Pending), nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := wantedBy(web)
			if err != nil {
				t.Fatal(err)
			}
			l := changelog.New[query.Resized](16, changelog.Versions)
			if tc.before != nil {
				l.Update(changelog.Place{}, changelog.Change[query.Resized]{Key: "web", Item: tc.before})
			}
			_, reader := l.Begin("")
			l.Update(changelog.Place{}, changelog.Change[query.Resized]{Key: "web", Item: tc.now, Gone: tc.now == nil})
			event, _, err := reader.Next()
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if item, kind := f.of(event); item != nil {
				got = [...]string{changelog.Added: "added", changelog.Modified: "modified", changelog.Deleted: "deleted"}[kind]
			}
			if got != tc.want {
				t.Errorf("is %q, want %q", got, tc.want)
			}
		})
	}
}

func aTokenIsValidOnlyForTheSameSelection(t *testing.T) {
	scope := func(request *workloadresizerv1.WatchResizesRequest) string {
		f, err := wantedBy(request)
		if err != nil {
			t.Fatal(err)
		}
		return f.scope
	}
	pending, failed := workloadresizerv1.ResizeState_RESIZE_STATE_PENDING, workloadresizerv1.ResizeState_RESIZE_STATE_FAILED
	seen := map[string]bool{}
	for _, request := range []*workloadresizerv1.WatchResizesRequest{
		{}, {Namespace: "shop"}, {LabelSelector: "shop"}, {States: []workloadresizerv1.ResizeState{pending}}, {States: []workloadresizerv1.ResizeState{pending, failed}},
	} {
		if seen[scope(request)] {
			t.Errorf("%v has the scope of another request", request)
		}
		seen[scope(request)] = true
	}
	if !seen[scope(&workloadresizerv1.WatchResizesRequest{States: []workloadresizerv1.ResizeState{failed, pending}})] {
		t.Error("the order of the states matters")
	}
}
