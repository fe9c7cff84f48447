package streams

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// bookmarkEvery is the maximum time between messages of a watch.
	bookmarkEvery = 10 * time.Second
	// sendWithin is how long a watch waits for a caller that does not read.
	sendWithin = 10 * time.Second
)

// Watches has the common settings of all watches of a server.
type Watches struct {
	// BookmarkEvery is the maximum time between messages of a watch, SendWithin how long a
	// watch waits for a caller that does not read, and AskEvery the maximum time until the
	// right of the caller is checked again.
	BookmarkEvery, SendWithin, AskEvery time.Duration
	// ending is closed when the server shuts down.
	ending chan struct{}
}

// NewWatches returns the settings of a server that is not shutting down.
func NewWatches() *Watches {
	return &Watches{BookmarkEvery: bookmarkEvery, SendWithin: sendWithin, AskEvery: askEvery, ending: make(chan struct{})}
}

// End ends all watches. Call it once.
func (w *Watches) End() { close(w.ending) }

// Watch sends the content of a log of changes to one caller, in messages of its own type.
type Watch[T, M any] struct {
	*Watches
	Log *changelog.Log[T]
	// Scope is the scope of the request. A token is valid only for the same scope.
	Scope string
	// Message returns the message for an event, with the token to resume from; nil if the
	// caller must not or need not receive it. An error ends the watch.
	Message func(event changelog.Event[T], token string) (*M, error)
	// Bookmark returns a message that has only a token.
	Bookmark func(token string) *M
	Send     func(*M) error

	call    Call
	allowed allowed
}

var eventTypes = [...]workloadresizerv1.WatchEventType{
	changelog.Added:    workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED,
	changelog.Modified: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED,
	changelog.Deleted:  workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED,
}

// EventType returns the type of an event in messages.
func EventType(kind changelog.Kind) workloadresizerv1.WatchEventType { return eventTypes[kind] }

// Run sends what follows the token or, without a token, the current state and what follows
// it. It returns when ctx is done or the watch fails.
func (w *Watch[T, M]) Run(ctx context.Context, token string) error {
	w.call = Call{SendWithin: w.SendWithin, TooSlow: rpcerror.WatchTooSlow, Advice: "resume from the last token", Ending: w.ending}
	return w.call.Run(ctx, func(ctx context.Context) error {
		reader, err := w.begin(ctx, token)
		if err != nil {
			return err
		}
		return w.follow(ctx, reader)
	})
}

// follow sends the events of a reader.
func (w *Watch[T, M]) follow(ctx context.Context, reader *changelog.Reader[T]) error {
	silent := time.NewTimer(w.BookmarkEvery)
	defer silent.Stop()
	send := func(m *M) error {
		silent.Reset(w.BookmarkEvery)
		return w.send(m)
	}
	current := false
	for {
		if err := w.stillAllowed(ctx); err != nil {
			return err
		}
		if !current && reader.Current() {
			current = true
			if err := send(w.Bookmark(reader.Token())); err != nil {
				return err
			}
		}
		event, more, err := reader.Next()
		if err != nil {
			return w.call.tooSlow(err.Error())
		}
		if more == nil {
			m, err := w.Message(event, reader.Token())
			if err != nil {
				return err
			}
			if m != nil {
				if err := send(m); err != nil {
					return err
				}
			}
			more = always
		}
		select {
		case <-more:
		case <-silent.C:
			silent.Reset(w.BookmarkEvery)
			if !current {
				break
			}
			if err := send(w.Bookmark(reader.Token())); err != nil {
				return err
			}
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

func (w *Watch[T, M]) send(m *M) error { return w.call.Send(func() error { return w.Send(m) }) }

// always replaces more if there may be another event already.
var always = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// begin returns a reader of what follows. Messages of the initial state have no token,
// because a watch cannot resume from part of it.
func (w *Watch[T, M]) begin(ctx context.Context, token string) (*changelog.Reader[T], error) {
	if token != "" {
		reader, err := w.Log.Resume(w.Scope, token)
		return reader, tokenError(err)
	}
	state, reader := w.Log.Begin(w.Scope)
	for _, event := range state.Items {
		if err := w.stillAllowed(ctx); err != nil {
			return nil, err
		}
		m, err := w.Message(event, "")
		if err == nil && m != nil {
			err = w.send(m)
		}
		if err != nil {
			return nil, err
		}
	}
	return reader, nil
}

// tokenError translates an error of a log about a token; nil stays nil.
func tokenError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, changelog.ErrExpired):
		return rpcerror.New(rpcerror.ResumeTokenExpired, err.Error()+"; watch again without a token")
	}
	return rpcerror.BadField("resume_token", "is invalid: "+err.Error())
}
