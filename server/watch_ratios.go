package server

import (
	"context"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/feed"
)

// ratioFeed has the ratios of the table by node type. The item of the key "",
// without a ratio, is the table itself: it changes last.
type ratioFeed struct {
	*feed.Feed[ratioItem]
	store    *ratios.Store
	messages tableMessages

	mu sync.Mutex
	// before is the table that the feed has, known its ratios.
	before *ratios.Table
	known  map[string]*workloadresizerv1.Ratio
}

// ratioItem is a ratio, or none, and the revision of the table that it is of.
type ratioItem struct {
	ratio    *workloadresizerv1.Ratio
	revision string
}

func newRatioFeed(store *ratios.Store, overridable bool) *ratioFeed {
	return &ratioFeed{Feed: feed.New[ratioItem](feedCapacity), store: store, messages: tableMessages{overridable: overridable}}
}

// run keeps the feed at the table in force until ctx is done.
func (f *ratioFeed) run(ctx context.Context) {
	changed := f.store.Watch()
	for {
		f.refresh()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// refresh takes over the table in force, if there is one.
func (f *ratioFeed) refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	table := f.store.Table()
	if table == nil || table == f.before {
		return
	}
	now := f.messages.of(table)
	var changes []feed.Change[ratioItem]
	for _, nodeType := range table.NodeTypes() {
		if r := now[nodeType]; !proto.Equal(f.known[nodeType], r) {
			changes = append(changes, feed.Change[ratioItem]{Key: nodeType, Item: &ratioItem{r, table.Revision}})
		}
	}
	for _, nodeType := range slices.Sorted(maps.Keys(f.known)) {
		if now[nodeType] == nil {
			changes = append(changes, feed.Change[ratioItem]{Key: nodeType, Item: &ratioItem{f.known[nodeType], table.Revision}, Gone: true})
		}
	}
	if len(changes) > 0 || f.before == nil || f.before.Revision != table.Revision {
		f.Update(append(changes, feed.Change[ratioItem]{Item: &ratioItem{revision: table.Revision}})...)
	}
	f.before, f.known = table, now
}

// WatchRatios ends each table with a bookmark.
func (s *ratioService) WatchRatios(request *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	if _, err := s.table(); err != nil {
		return err
	}
	s.feed.refresh() // What the caller has just changed belongs to the state.
	revision := s.feed.Get("").revision
	w := &watch[ratioItem, workloadresizerv1.WatchRatiosResponse]{watches: s.watches, feed: s.feed.Feed, send: stream.Send}
	w.bookmark = func(token string) *workloadresizerv1.WatchRatiosResponse {
		return &workloadresizerv1.WatchRatiosResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, Revision: revision, ResumeToken: token}
	}
	w.message = func(kind workloadresizerv1.WatchEventType, item *ratioItem, token string) (*workloadresizerv1.WatchRatiosResponse, error) {
		present := token == ""
		switch {
		case item.ratio != nil && present:
			// Its own revision is that of the table that last changed it.
			return &workloadresizerv1.WatchRatiosResponse{Type: kind, Ratio: item.ratio, Revision: revision}, nil
		case item.ratio != nil:
			return &workloadresizerv1.WatchRatiosResponse{Type: kind, Ratio: item.ratio, Revision: item.revision, ResumeToken: token}, nil
		}
		revision = item.revision
		if present {
			return nil, nil // It comes first here; the bookmark follows.
		}
		return w.bookmark(token), nil
	}
	return w.run(stream.Context(), request.GetResumeToken())
}
