package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// log is a log of recommendations. To follow them costs a look at all pods a minute, so it does so only
// while there are watches.
type log struct {
	*changelog.Log[workloadresizerv1.Recommendation]
	demands *demand.Demands

	mu      sync.Mutex
	watches int
	// current means that nothing was published since the log was brought up to date.
	current bool
	known   map[string]*workloadresizerv1.Recommendation
}

func newLog(demands *demand.Demands) *log {
	return &log{Log: changelog.New[workloadresizerv1.Recommendation](changelog.Capacity, changelog.Versions), demands: demands}
}

// run keeps the log up to date until ctx is done.
func (l *log) run(ctx context.Context) {
	published := l.demands.Watch()
	for {
		select {
		case <-published:
			l.mu.Lock()
			if l.current = false; l.watches > 0 {
				l.refresh(ctx)
			}
			l.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// begin counts a watch until end is called. It brings the log up to date, unless nothing was published
// since that was last done: a caller that begins one watch after the other costs nothing.
func (l *log) begin(ctx context.Context) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watches++; !l.current {
		l.refresh(ctx)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.watches--
	}
}

// refresh updates the log, unless the caller gives up first. The caller has locked it.
func (l *log) refresh(ctx context.Context) {
	table := l.demands.Ratios.Table()
	if table == nil {
		return
	}
	now := map[string]*workloadresizerv1.Recommendation{}
	var changes []changelog.Change[workloadresizerv1.Recommendation]
	for item, err := range l.demands.Report(ctx, demand.Selection{}) {
		if err != nil {
			return
		}
		at := place{item.Container, item.Rule}
		key, m := at.text(), message(item, table.Prices != nil)
		if old := l.known[key]; proto.Equal(old, m) {
			m = old
		} else {
			changes = append(changes, changelog.Change[workloadresizerv1.Recommendation]{Key: key, Item: m})
		}
		now[key] = m
	}
	for _, key := range slices.Sorted(maps.Keys(l.known)) {
		if now[key] == nil {
			changes = append(changes, changelog.Change[workloadresizerv1.Recommendation]{Key: key, Item: l.known[key], Gone: true})
		}
	}
	l.Update(changelog.Place{}, changes...)
	l.known, l.current = now, true
}

// viewFor is how long a watch uses the same view of the caller.
const viewFor = time.Minute

// WatchRecommendations implements workloadresizerv1.UsageServiceServer.
func (s *Service) WatchRecommendations(request *workloadresizerv1.WatchRecommendationsRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRecommendationsResponse]) error {
	ctx, namespace := stream.Context(), request.GetNamespace()
	view, seen := s.config.Viewer.View(ctx), time.Now()
	if err := access.MustSee(view, namespace); err != nil {
		return err
	}
	if _, err := s.table(); err != nil {
		return err
	}
	defer s.log.begin(ctx)()
	of := workloadOf(request.GetWorkload())
	w := &streams.Watch[workloadresizerv1.Recommendation, workloadresizerv1.WatchRecommendationsResponse]{
		Watches: s.config.Watches, Log: s.log.Log, Scope: fmt.Sprintf("%s\n%s\n%s", namespace, of.Kind, of.Name), Send: stream.Send,
	}
	w.Bookmark = func(token string) *workloadresizerv1.WatchRecommendationsResponse {
		return &workloadresizerv1.WatchRecommendationsResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, ResumeToken: token}
	}
	w.Message = func(event changelog.Event[workloadresizerv1.Recommendation], token string) (*workloadresizerv1.WatchRecommendationsResponse, error) {
		r := event.Item
		if namespace != "" && r.GetNamespace() != namespace || request.GetWorkload() != nil && !proto.Equal(r.GetWorkload(), request.GetWorkload()) {
			return nil, nil
		}
		if time.Since(seen) > viewFor {
			view, seen = s.config.Viewer.View(ctx), time.Now()
			if err := access.MustSee(view, namespace); err != nil {
				return nil, err
			}
		}
		if visible, err := view.Visible(r.GetNamespace()); err != nil || len(visible) == 0 {
			return nil, err
		}
		return &workloadresizerv1.WatchRecommendationsResponse{Type: streams.EventType(event.Kind), Recommendation: r, ResumeToken: token}, nil
	}
	return w.Run(ctx, request.GetResumeToken())
}
