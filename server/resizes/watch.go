package resizes

import (
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// history is a log of how pods were sized, by namespace and name.
type history struct {
	*changelog.Log[query.Resized]
	// ready returns why the log is not complete yet.
	ready func() error
}

// follow returns a log that follows the reconciler.
func follow(r *reconciler.Reconciler) *history {
	l := &history{Log: changelog.New[query.Resized](changelog.Capacity)}
	l.ready = r.WatchResizes(func(before, now *query.Resized) {
		if now == nil {
			l.Update(changelog.Change[query.Resized]{Key: before.Pod.String(), Gone: true})
			return
		}
		l.Update(changelog.Change[query.Resized]{Key: now.Pod.String(), Item: now})
	})
	return l
}

// viewFor is how long a watch uses the same view of the caller.
const viewFor = time.Minute

// WatchResizes implements workloadresizerv1.ResizeServiceServer.
func (s *Service) WatchResizes(request *workloadresizerv1.WatchResizesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchResizesResponse]) error {
	ctx, namespace := stream.Context(), request.GetNamespace()
	view, seen := s.config.Viewer.View(ctx), time.Now()
	if err := access.MustSee(view, namespace); err != nil {
		return err
	}
	if err := s.history.ready(); err != nil {
		return translate.Error(err)
	}
	w := &streams.Watch[query.Resized, workloadresizerv1.WatchResizesResponse]{Watches: s.config.Watches, Log: s.history.Log, Scope: namespace, Send: stream.Send}
	w.Bookmark = func(token string) *workloadresizerv1.WatchResizesResponse {
		return &workloadresizerv1.WatchResizesResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, ResumeToken: token}
	}
	w.Message = func(kind workloadresizerv1.WatchEventType, r *query.Resized, token string) (*workloadresizerv1.WatchResizesResponse, error) {
		if namespace != "" && namespace != r.Pod.Namespace {
			return nil, nil
		}
		if time.Since(seen) > viewFor {
			view, seen = s.config.Viewer.View(ctx), time.Now()
			if err := access.MustSee(view, namespace); err != nil {
				return nil, err
			}
		}
		if visible, err := view.Visible(r.Pod.Namespace); err != nil || len(visible) == 0 {
			return nil, err
		}
		return &workloadresizerv1.WatchResizesResponse{Type: kind, Resize: message(r), ResumeToken: token}, nil
	}
	return w.Run(ctx, request.GetResumeToken())
}
