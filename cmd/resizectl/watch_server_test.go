package main

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc/status"
)

// scriptedStreams are what the watches of one kind are sent, one after the other.
type scriptedStreams[R any] struct {
	mu    sync.Mutex
	next  []scriptedStream[R]
	asked []string
}

// scriptedStream is one stream: its events, and what ends it; nil is that it goes on
// until the caller goes away.
type scriptedStream[R any] struct {
	events []R
	err    error
}

// tokens are where the watches wanted to go on.
func (s *scriptedStreams[R]) tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *scriptedStreams[R]) take(token string) (now scriptedStream[R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, token)
	if len(s.next) > 0 {
		now, s.next = s.next[0], s.next[1:]
	}
	return now
}

func (s *scriptedStreams[R]) serve(ctx context.Context, token string, send func(R) error) error {
	now := s.take(token)
	for _, event := range now.events {
		if err := send(event); err != nil {
			return err
		}
	}
	if now.err != nil {
		return now.err
	}
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}
