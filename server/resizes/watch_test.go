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

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
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

func TestWatch(t *testing.T) {
	t.Run("a revoked right ends or limits a watch within a minute", aRevokedRightEndsOrLimitsAWatchWithinAMinute)
}

func aRevokedRightEndsOrLimitsAWatchWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewer := &revocable{}
		f := &history{Log: changelog.New[query.Resized](changelog.Capacity), ready: func() error { return nil }}
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
				f.Update(changelog.Change[query.Resized]{Key: r.Pod.String(), Item: r})
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
