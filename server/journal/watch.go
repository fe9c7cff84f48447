package journal

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// seenFor is how long a watch knows what its caller can see.
const seenFor = time.Minute

// WatchEntries implements workloadresizerv1.JournalServiceServer.
func (s *Service) WatchEntries(request *workloadresizerv1.WatchEntriesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchEntriesResponse]) error {
	ctx, filter := stream.Context(), filterOf(request)
	seen, err := s.sight(ctx, filter)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.ready(); err != nil {
		return err
	}
	s.alias(filter)
	s.history.once(s.config.Journal.Book)
	w := &streams.Watch[journal.Entry, workloadresizerv1.WatchEntriesResponse]{Watches: s.config.Watches, Log: s.history.Log, Scope: scopeOf(request), Send: stream.Send}
	w.Bookmark = func(token string) *workloadresizerv1.WatchEntriesResponse {
		return &workloadresizerv1.WatchEntriesResponse{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, ResumeToken: token}
	}
	w.Message = func(event changelog.Event[journal.Entry], token string) (*workloadresizerv1.WatchEntriesResponse, error) {
		kind, ok := kindFor(filter, event)
		if !ok {
			return nil, nil
		}
		e := event.Item
		if time.Since(began) > seenFor {
			if seen, err = s.sight(ctx, filter); err != nil {
				return nil, err
			}
			began = time.Now()
		}
		if err := seen.know([]*journal.Entry{e}); err != nil || !seen.has(e) {
			return nil, err
		}
		return &workloadresizerv1.WatchEntriesResponse{Type: streams.EventType(kind), Entry: Message(e), ResumeToken: token}, nil
	}
	return w.Run(ctx, request.GetResumeToken())
}

// kindFor returns what an event is to a caller that knows only the selected entries; false if it is none of them.
func kindFor(filter *journal.Filter, event changelog.Event[journal.Entry]) (kind changelog.Kind, ok bool) {
	now := event.Kind != changelog.Deleted && filter.Selects(event.Item) && time.Since(event.Item.End()) <= journal.Age
	before := event.Before != nil && filter.Selects(event.Before)
	switch {
	case now && before:
		return changelog.Modified, true
	case now:
		return changelog.Added, true
	}
	return changelog.Deleted, before
}

// scopeOf identifies what a watch is about.
func scopeOf(request *workloadresizerv1.WatchEntriesRequest) string {
	same := proto.CloneOf(request)
	same.ResumeToken = ""
	text, _ := proto.MarshalOptions{Deterministic: true}.Marshal(same) // It was received as a message.
	return string(text)
}
