package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/util/wait"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Event is one event of a watch.
type Event[T any] struct {
	// Type is the type of the event. It is unspecified if Reset is set.
	Type workloadresizerv1.WatchEventType
	// Object is the object that the event is about, in its current state or, if it
	// was deleted, its last; nil in a bookmark and a reset.
	Object T
	// Reset means that the watch could not resume where it was. Discard what was
	// received; the current state follows, then a bookmark.
	Reset bool
	// ResumeToken is where to resume after this event (ResumeFrom). It is empty in a
	// reset and until the current state is complete: a watch cannot resume from part of
	// the state.
	ResumeToken string
	// Response is the server's message, e.g. a *WatchRatiosResponse; nil in a
	// reset.
	Response proto.Message
}

// watchPauses are the pauses before a watch resumes: they grow from 0.1 to 30 s while it
// makes no progress.
var watchPauses = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 9, Cap: 30 * time.Second}

// errWatchEnded is the error of a stream that the server ended without an error.
var errWatchEnded = errors.New("the server ended the watch")

// watchResponse has the methods that the responses of all watches share.
type watchResponse interface {
	proto.Message
	GetType() workloadresizerv1.WatchEventType
	GetResumeToken() string
}

// watch yields the events of the streams that open opens, one after the other, as if they
// were one stream. An error is yielded once, last.
func watch[R watchResponse, T any](ctx context.Context, opts []WatchOption,
	open func(ctx context.Context, token string) (receive func() (R, error), err error),
	objectOf func(R) T,
) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		var o watchOptions
		for _, set := range opts {
			set(&o)
		}
		began := false
		pauses := watchPauses
		for {
			received, stopped, err := watchOnce(ctx, &o, open, objectOf, yield)
			if stopped {
				return
			}
			began = began || received
			if Reason(err) == "RESUME_TOKEN_EXPIRED" && o.token != "" {
				o.token, began = "", true
				if !yield(Event[T]{Reset: true}, nil) {
					return
				}
				continue
			}
			if !began || !goesOn(ctx, received, err) {
				yield(Event[T]{}, err)
				return
			}
			if o.onRetry != nil {
				o.onRetry(err)
			}
			switch {
			case received && o.token == "":
				// The stream ended within the current state. No event will report objects that
				// were deleted since.
				if !yield(Event[T]{Reset: true}, nil) {
					return
				}
			case received:
				pauses = watchPauses
			}
			select {
			case <-time.After(pauses.Step()):
			case <-ctx.Done():
				yield(Event[T]{}, status.FromContextError(ctx.Err()).Err())
				return
			}
		}
	}
}

// watchOnce yields the events of one stream to its end. It reports whether there were any,
// and whether the caller stopped.
func watchOnce[R watchResponse, T any](ctx context.Context, o *watchOptions,
	open func(ctx context.Context, token string) (func() (R, error), error),
	objectOf func(R) T, yield func(Event[T], error) bool,
) (received, stopped bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	receive, err := open(ctx, o.token)
	if err != nil {
		return false, false, err
	}
	for {
		response, err := receive()
		if errors.Is(err, io.EOF) {
			err = errWatchEnded
		}
		if err != nil {
			return received, false, err
		}
		received, o.token = true, response.GetResumeToken()
		if !yield(Event[T]{Type: response.GetType(), Object: objectOf(response), ResumeToken: o.token, Response: response}, nil) {
			return received, true, nil
		}
	}
}

// goesOn reports whether a watch that err ended can resume: the server or the connection
// went away, the caller was too slow, or there were too many calls at the same time. It can also
// resume if the credentials that it began with have expired: there may be new ones by now.
func goesOn(ctx context.Context, received bool, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if received && Reason(err) == "CREDENTIALS_INVALID" {
		return true
	}
	switch Reason(err) {
	case "WATCH_TOO_SLOW", "RATE_LIMITED", "TOO_MANY_WATCHES":
		return true
	}
	return errors.Is(err, errWatchEnded) || status.Code(err) == codes.Unavailable
}

// WatchOption is an option of a watch.
type WatchOption func(*watchOptions)

type watchOptions struct {
	token   string
	onRetry func(error)
}

// ResumeFrom resumes after the event with that token, instead of beginning with the current
// state.
func ResumeFrom(token string) WatchOption {
	return func(o *watchOptions) { o.token = token }
}

// OnRetry calls retry each time a watch is interrupted, with the error that interrupted it.
func OnRetry(retry func(error)) WatchOption {
	return func(o *watchOptions) { o.onRetry = retry }
}
