package usage

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

// log is a log of recommendations: for all pods, and for the pods of each workload that is watched. To
// follow them costs a look at all pods a minute, so it does so only while there are watches.
type log struct {
	*changelog.Log[workloadresizerv1.Recommendation]
	demands *demand.Demands

	mu sync.Mutex
	// followed has what is or was watched lately, by its workload; the zero value stands for all pods.
	followed map[usagestore.Workload]*followed
}

// followed are the recommendations for the pods of a workload.
type followed struct {
	watches int
	// left is when the last watch ended.
	left time.Time
	// current means that nothing was published since the log was brought up to date.
	current bool
	known   map[string]*workloadresizerv1.Recommendation
}

// linger is how long the log keeps what nobody watches, so that a watch that resumes misses nothing and
// gets nothing twice.
const linger = 10 * time.Minute

func newLog(demands *demand.Demands) *log {
	return &log{
		Log: changelog.New[workloadresizerv1.Recommendation](changelog.Capacity, changelog.Versions), demands: demands,
		followed: map[usagestore.Workload]*followed{},
	}
}

// run keeps the log up to date until ctx is done.
func (l *log) run(ctx context.Context) {
	published := l.demands.Watch()
	for {
		select {
		case <-published:
			l.publish(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// publish brings up to date what is watched, and forgets what has not been watched for long.
func (l *log) publish(ctx context.Context, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var watched []usagestore.Workload
	for of, f := range l.followed {
		switch f.current = false; {
		case f.watches > 0:
			watched = append(watched, of)
		case now.Sub(f.left) > linger:
			l.replace(f, nil)
			delete(l.followed, of)
		}
	}
	if len(watched) > 0 {
		l.refresh(ctx, "", watched)
	}
}

// begin counts a watch of the pods of a workload until end is called. It brings the log up to date, unless
// nothing was published since that was last done: a caller that begins one watch after the other costs
// nothing.
func (l *log) begin(ctx context.Context, of usagestore.Workload) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.followed[of]
	if f == nil {
		f = &followed{}
		l.followed[of] = f
	}
	if f.watches++; !f.current {
		l.refresh(ctx, of.Namespace, []usagestore.Workload{of})
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.watches--; f.watches == 0 {
			f.left = time.Now()
			if len(f.known) == 0 { // It may not exist: a caller can name any.
				delete(l.followed, of)
			}
		}
	}
}

// refresh brings what is followed of some workloads up to date, unless the caller gives up first. The
// caller has locked the log.
func (l *log) refresh(ctx context.Context, namespace string, of []usagestore.Workload) {
	table := l.demands.Ratios.Table()
	if table == nil {
		return
	}
	now := make(map[usagestore.Workload]map[string]*workloadresizerv1.Recommendation, len(of))
	for item, err := range l.demands.Report(ctx, demand.Selection{Namespace: namespace, Workloads: of}) {
		if err != nil {
			return
		}
		if now[item.Of] == nil {
			now[item.Of] = map[string]*workloadresizerv1.Recommendation{}
		}
		at := place{item.Container, item.Rule}
		now[item.Of][keyOf(item.Of, &at)] = message(item, table.Prices != nil)
	}
	for _, w := range of {
		f := l.followed[w]
		l.replace(f, now[w])
		f.current = true
	}
}

// replace replaces what is followed, and adds the differences to the log.
func (l *log) replace(f *followed, now map[string]*workloadresizerv1.Recommendation) {
	var changes []changelog.Change[workloadresizerv1.Recommendation]
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if old := f.known[key]; proto.Equal(old, now[key]) {
			now[key] = old
		} else {
			changes = append(changes, changelog.Change[workloadresizerv1.Recommendation]{Key: key, Item: now[key]})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.known)) {
		if now[key] == nil {
			changes = append(changes, changelog.Change[workloadresizerv1.Recommendation]{Key: key, Item: f.known[key], Gone: true})
		}
	}
	l.Update(changelog.Place{}, changes...)
	f.known = now
}

// keyOf returns the key of a recommendation for the pods of a workload.
func keyOf(of usagestore.Workload, at *place) string { return scopeOf(of) + at.text() }

// scopeOf returns how the keys of the recommendations for the pods of a workload begin.
func scopeOf(of usagestore.Workload) string {
	return strings.Join([]string{of.Namespace, of.Kind, of.Name, ""}, separator)
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
	// The list selects the same pods.
	var of usagestore.Workload
	if request.GetWorkload() != nil {
		of = workloadOf(namespace, request.GetWorkload())
	}
	defer s.log.begin(ctx, of)()
	scope := scopeOf(of)
	w := &streams.Watch[workloadresizerv1.Recommendation, workloadresizerv1.WatchRecommendationsResponse]{
		Watches: s.config.Watches, Log: s.log.Log, Scope: namespace + separator + scope, Send: stream.Send,
	}
	w.Bookmark = func(token string) *workloadresizerv1.WatchRecommendationsResponse {
		return &workloadresizerv1.WatchRecommendationsResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, ResumeToken: token}
	}
	w.Message = func(event changelog.Event[workloadresizerv1.Recommendation], token string) (*workloadresizerv1.WatchRecommendationsResponse, error) {
		r := event.Item
		if !strings.HasPrefix(event.Key, scope) || namespace != "" && r.GetNamespace() != namespace {
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
