package resizes

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/labels"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

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
	wanted, err := wantedBy(request)
	if err != nil {
		return err
	}
	w := &streams.Watch[query.Resized, workloadresizerv1.WatchResizesResponse]{Watches: s.config.Watches, Log: s.history.Log, Scope: wanted.scope, Send: stream.Send}
	w.Bookmark = func(token string) *workloadresizerv1.WatchResizesResponse {
		return &workloadresizerv1.WatchResizesResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, ResumeToken: token}
	}
	w.Message = func(event changelog.Event[query.Resized], token string) (*workloadresizerv1.WatchResizesResponse, error) {
		r, kind := wanted.of(event)
		if r == nil {
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
		return &workloadresizerv1.WatchResizesResponse{Type: streams.EventType(kind), Resize: Message(r), ResumeToken: token}, nil
	}
	return w.Run(ctx, request.GetResumeToken())
}

// filter selects resizes.
type filter struct {
	namespace string
	labels    labels.Selector
	states    []workloadresizerv1.ResizeState
	// scope identifies the filter.
	scope string
}

func wantedBy(request *workloadresizerv1.WatchResizesRequest) (*filter, error) {
	selector, err := translate.Selector(request.GetLabelSelector())
	if err != nil {
		return nil, err
	}
	f := &filter{namespace: request.GetNamespace(), labels: selector, states: slices.Sorted(slices.Values(request.GetStates()))}
	f.scope = fmt.Sprintf("%s\n%s\n%v", f.namespace, request.GetLabelSelector(), f.states)
	return f, nil
}

// of returns the resize that an event is about, and what the event is to a caller that knows only
// the selected resizes; nil if it is none of them.
func (f *filter) of(e changelog.Event[query.Resized]) (*query.Resized, changelog.Kind) {
	now, before := e.Kind != changelog.Deleted && f.selects(e.Item), e.Before != nil && f.selects(e.Before)
	switch {
	case now && before:
		return e.Item, changelog.Modified
	case now:
		return e.Item, changelog.Added
	case before:
		return e.Item, changelog.Deleted
	}
	return nil, 0
}

func (f *filter) selects(r *query.Resized) bool {
	return (f.namespace == "" || f.namespace == r.Pod.Namespace) && inState(r, f.states) && (f.labels == nil || f.labels.Matches(r.Labels))
}
