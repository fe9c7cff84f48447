package cmdtest

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc/status"
)

// Streams are what the watches of one kind receive, one after the other.
type Streams[R any] struct {
	mu    sync.Mutex
	Next  []Stream[R]
	asked []string
}

// Stream is one stream: its events, and the error that ends it; with nil, it continues until
// the caller goes away.
type Stream[R any] struct {
	Events []R
	Err    error
}

// Tokens returns the tokens with which watches asked to resume.
func (s *Streams[R]) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Streams[R]) take(token string) (now Stream[R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, token)
	if len(s.Next) > 0 {
		now, s.Next = s.Next[0], s.Next[1:]
	}
	return now
}

func (s *Streams[R]) serve(ctx context.Context, token string, send func(R) error) error {
	now := s.take(token)
	for _, event := range now.Events {
		if err := send(event); err != nil {
			return err
		}
	}
	if now.Err != nil {
		return now.Err
	}
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}
