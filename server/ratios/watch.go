package ratios

import (
	"context"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// tableLog is a log of the ratios in the table, by node type. The item with the key "" has no
// ratio; it stands for the table itself and changes last.
type tableLog struct {
	*changelog.Log[ratioItem]
	store    *ratios.Store
	messages tableMessages

	mu sync.Mutex
	// before is the table that is in the log, and known its ratios.
	before *ratios.Table
	known  map[string]*workloadresizerv1.Ratio
}

// ratioItem is a ratio, or none, and the revision of its table.
type ratioItem struct {
	ratio    *workloadresizerv1.Ratio
	revision string
}

func newTableLog(store *ratios.Store, overridable bool) *tableLog {
	return &tableLog{Log: changelog.New[ratioItem](changelog.Capacity, changelog.Digests), store: store, messages: tableMessages{overridable: overridable}}
}

// run keeps the log up to date with the table in effect until ctx is done.
func (l *tableLog) run(ctx context.Context) {
	changed := l.store.Watch()
	for {
		l.refresh()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// refresh updates the log to the table in effect, if there is one.
func (l *tableLog) refresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	table := l.store.Table()
	if table == nil || table == l.before {
		return
	}
	made := l.messages.of(table)
	now := made.ratios
	var changes []changelog.Change[ratioItem]
	for _, nodeType := range table.NodeTypes() {
		if r := now[nodeType]; !proto.Equal(l.known[nodeType], r) {
			changes = append(changes, changelog.Change[ratioItem]{Key: nodeType, Item: &ratioItem{r, table.Revision}})
		}
	}
	for _, nodeType := range slices.Sorted(maps.Keys(l.known)) {
		if now[nodeType] == nil {
			changes = append(changes, changelog.Change[ratioItem]{Key: nodeType, Item: &ratioItem{l.known[nodeType], table.Revision}, Gone: true})
		}
	}
	if len(changes) > 0 || l.before == nil || l.before.Revision != table.Revision {
		to := changelog.Place{Token: made.digest, Reached: made.digest}
		l.Update(to, append(changes, changelog.Change[ratioItem]{Item: &ratioItem{revision: table.Revision}})...)
	}
	l.before, l.known = table, now
}

// WatchRatios implements workloadresizerv1.RatioServiceServer. It sends a bookmark after each table.
func (s *Service) WatchRatios(request *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	if _, err := s.Table(); err != nil {
		return err
	}
	s.log.refresh() // The initial state must include what the caller has just changed.
	revision := s.log.Get("").revision
	w := &streams.Watch[ratioItem, workloadresizerv1.WatchRatiosResponse]{Watches: s.config.Watches, Log: s.log.Log, Send: stream.Send}
	w.Bookmark = func(token string) *workloadresizerv1.WatchRatiosResponse {
		return &workloadresizerv1.WatchRatiosResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, Revision: revision, ResumeToken: token}
	}
	w.Message = func(event changelog.Event[ratioItem], token string) (*workloadresizerv1.WatchRatiosResponse, error) {
		item, kind, present := event.Item, streams.EventType(event.Kind), token == ""
		switch {
		case item.ratio != nil && present:
			// The item has the revision of the table that last changed it.
			return &workloadresizerv1.WatchRatiosResponse{Type: kind, Ratio: item.ratio, Revision: revision}, nil
		case item.ratio != nil:
			return &workloadresizerv1.WatchRatiosResponse{Type: kind, Ratio: item.ratio, Revision: item.revision, ResumeToken: token}, nil
		}
		revision = item.revision
		if present {
			return nil, nil // The table comes first here; its bookmark follows.
		}
		return w.Bookmark(token), nil
	}
	return w.Run(stream.Context(), request.GetResumeToken())
}
