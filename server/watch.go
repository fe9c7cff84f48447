package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/feed"
)

const (
	// feedCapacity is how many changes are kept to resume from.
	feedCapacity = 16384
	// bookmarkEvery is how long a watch is silent at most.
	bookmarkEvery = 10 * time.Second
	// sendWithin is how long a watch waits for a caller that does not read.
	sendWithin = 10 * time.Second
)

// watches is what all watches of a server have in common.
type watches struct {
	bookmarkEvery, sendWithin, askEvery time.Duration
	// ending is closed when the server ends.
	ending chan struct{}
}

func newWatches() *watches {
	return &watches{bookmarkEvery: bookmarkEvery, sendWithin: sendWithin, askEvery: askEvery, ending: make(chan struct{})}
}

// watch sends one caller what a feed of items has, in messages of its own kind.
type watch[T, M any] struct {
	*watches
	feed *feed.Feed[T]
	// scope is what the caller asked for; a token is only good for the same.
	scope string
	// message makes one of an item, with the token to go on from; nil if it does
	// not concern the caller. The error ends the watch.
	message func(kind workloadresizerv1.WatchEventType, item *T, token string) (*M, error)
	// bookmark makes one that has only a token.
	bookmark func(token string) *M
	send     func(*M) error
	// askAt is when to ask again whether the caller may watch.
	askAt time.Time
}

var eventTypes = [...]workloadresizerv1.WatchEventType{
	feed.Added:    workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED,
	feed.Modified: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED,
	feed.Deleted:  workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED,
}

// run sends what comes after the token, or, without one, the present state and
// what comes after that, until ctx is done or it fails.
func (w *watch[T, M]) run(ctx context.Context, token string) error {
	out := newOutbox(w.send, w.sendWithin, w.ending)
	defer out.close()
	reader, err := w.begin(ctx, token, out)
	if err != nil {
		return err
	}
	silent := time.NewTimer(w.bookmarkEvery)
	defer silent.Stop()
	send := func(m *M) error {
		silent.Reset(w.bookmarkEvery)
		return out.send(ctx, m)
	}
	current := false
	for {
		if err := w.stillAllowed(ctx); err != nil {
			return err
		}
		if !current && reader.Current() {
			current = true
			if err := send(w.bookmark(reader.Token())); err != nil {
				return err
			}
		}
		event, more, err := reader.Next()
		if err != nil {
			return errTooSlow(err.Error())
		}
		if more == nil {
			m, err := w.message(eventTypes[event.Kind], event.Item, reader.Token())
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
			silent.Reset(w.bookmarkEvery)
			if !current {
				break
			}
			if err := send(w.bookmark(reader.Token())); err != nil {
				return err
			}
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-w.ending:
			return errEnding()
		}
	}
}

// always stands for more where there may be more at once.
var always = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// begin returns a reader of what follows. The messages of the present state have
// no token: what was sent of it in part is no state to go on from.
func (w *watch[T, M]) begin(ctx context.Context, token string, out *outbox[M]) (*feed.Reader[T], error) {
	if token != "" {
		reader, err := w.feed.Resume(w.scope, token)
		return reader, tokenError(err)
	}
	state, reader := w.feed.Begin(w.scope)
	for _, event := range state.Items {
		if err := w.stillAllowed(ctx); err != nil {
			return nil, err
		}
		m, err := w.message(eventTypes[feed.Added], event.Item, "")
		if err == nil && m != nil {
			err = out.send(ctx, m)
		}
		if err != nil {
			return nil, err
		}
	}
	return reader, nil
}

// tokenError translates what a feed says of a token; nil stays nil.
func tokenError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, feed.ErrExpired):
		return rpcerror.New(rpcerror.ResumeTokenExpired, err.Error()+"; watch again without a token")
	}
	return rpcerror.BadField("resume_token", "cannot be: "+err.Error())
}
