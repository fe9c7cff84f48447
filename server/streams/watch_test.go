package streams

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// told is a message of a watch of numbers.
type told struct{ what, token string }

// watching is a watch of the even numbers in a changelog.
type watching struct {
	*changelog.Log[int]
	watches *Watches
	sent    chan *told
	cancel  context.CancelFunc
	ended   chan error
}

// follow begins a watch that resumes from the token.
func follow(t *testing.T, f *changelog.Log[int], token string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &watching{f, NewWatches(), make(chan *told), cancel, make(chan error, 1)}
	w := &Watch[int, told]{Watches: s.watches, Log: f}
	w.Message = func(event changelog.Event[int], token string) (*told, error) {
		kind, item := EventType(event.Kind), event.Item
		switch {
		case *item < 0:
			return nil, errors.New("negative")
		case *item%2 != 0:
			return nil, nil
		}
		return &told{fmt.Sprintf("%d %d", kind-workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, *item), token}, nil
	}
	w.Bookmark = func(token string) *told { return &told{"bookmark", token} }
	w.Send = func(m *told) error {
		// As in gRPC, a send ends with its call.
		select {
		case s.sent <- m:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() {
		err := w.Run(ctx, token)
		cancel()
		s.ended <- err
	}()
	return s
}

// next returns the next message within a time.
func (s *watching) next(within time.Duration) *told {
	select {
	case m := <-s.sent:
		return m
	case <-time.After(within):
		return &told{what: "nothing"}
	}
}

func (s *watching) expect(t *testing.T, within time.Duration, what ...string) (last *told) {
	t.Helper()
	for _, want := range what {
		if last = s.next(within); last.what != want {
			t.Fatalf("got %q, want %q", last.what, want)
		}
	}
	return last
}

func numbers(pairs ...int) *changelog.Log[int] {
	f := changelog.New[int](16, changelog.Digests)
	for _, n := range pairs {
		f.Update(changelog.Place{}, changelog.Change[int]{Key: fmt.Sprint(n / 10), Item: &n})
	}
	return f
}

// All goroutines of a synctest bubble must end, or the test fails.

func TestWatch(t *testing.T) {
	t.Run("sends the current state, then a bookmark, then changes", sendsTheCurrentStateThenABookmarkThenChanges)
	t.Run("sends a quiet caller a valid bookmark every ten seconds", sendsAQuietCallerAValidBookmarkEveryTenSeconds)
	t.Run("an invalid token is an invalid field", anInvalidTokenIsAnInvalidField)
	t.Run("cuts off a caller that does not read after ten seconds", cutsOffACallerThatDoesNotReadAfterTenSeconds)
	t.Run("cuts off a slow caller while its token is valid", cutsOffASlowCallerWhileItsTokenIsValid)
	t.Run("a shutdown ends all watches, whether or not they are read", aShutdownEndsAllWatchesWhetherOrNotTheyAreRead)
	t.Run("an error of Message ends the watch", anErrorOfMessageEndsTheWatch)
}

func sendsTheCurrentStateThenABookmarkThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := follow(t, numbers(20, 10, 31, 12), "")
		if first := s.expect(t, time.Second, "0 12", "0 20"); first.token != "" {
			t.Error("a part of the initial state has a token")
		}
		bookmark := s.expect(t, time.Second, "bookmark")
		n := 44
		s.Update(changelog.Place{}, changelog.Change[int]{Key: "2", Gone: true}, changelog.Change[int]{Key: "1", Item: &n}, changelog.Change[int]{Key: "4", Item: &n})
		modified := s.expect(t, time.Second, "2 20", "1 44")
		last := s.expect(t, time.Second, "0 44")
		s.stop(t)

		for name, token := range map[string]string{"bookmark": bookmark.token, "event": modified.token, "last": last.token} {
			want := map[string][]string{"bookmark": {"2 20", "1 44", "0 44", "bookmark"}, "event": {"0 44", "bookmark"}, "last": {"bookmark"}}
			s := follow(t, s.Log, token)
			s.expect(t, time.Second, want[name]...)
			s.stop(t)
		}
	})
}

// stop ends the watch as its caller would.
func (s *watching) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	if err := s.end(); status.Code(err) != codes.Canceled {
		t.Errorf("ended with %v", err)
	}
}

func sendsAQuietCallerAValidBookmarkEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := follow(t, numbers(), "")
		first := s.expect(t, time.Second, "bookmark")
		s.expect(t, 9*time.Second, "nothing")
		s.expect(t, 2*time.Second, "bookmark")
		var last *told
		bookmarks := 0
		for range 40 { // Changes that do not concern the caller, every second.
			n := 1
			s.Update(changelog.Place{}, changelog.Change[int]{Key: "0", Item: &n})
			if m := s.next(time.Second); m.what == "bookmark" {
				last = m
				bookmarks++
			}
		}
		if bookmarks < 3 {
			t.Fatalf("%d bookmarks in 40 seconds", bookmarks)
		}
		s.stop(t)
		servertest.CheckError(t, follow(t, s.Log, first.token).end(), codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "watch again without a token")
		resumed := follow(t, s.Log, last.token)
		resumed.expect(t, time.Second, "bookmark")
		resumed.stop(t)
	})
}

func (s *watching) end() error { return <-s.ended }

func anInvalidTokenIsAnInvalidField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servertest.CheckError(t, follow(t, numbers(), "none").end(), codes.InvalidArgument, "INVALID_ARGUMENT", "resume_token")
	})
}

func cutsOffACallerThatDoesNotReadAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := follow(t, numbers(10, 20), "")
		servertest.CheckError(t, s.end(), codes.ResourceExhausted, "WATCH_TOO_SLOW", "the client read nothing for 10s")
		if took := time.Since(begin); took != sendWithin {
			t.Errorf("after %v", took)
		}
	})
}

func cutsOffASlowCallerWhileItsTokenIsValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := follow(t, numbers(), "")
		last := s.expect(t, time.Second, "bookmark")
		synctest.Wait()
		for i := range 12 {
			n := 2 * i
			s.Update(changelog.Place{}, changelog.Change[int]{Key: fmt.Sprint(i), Item: &n})
		}
		var got []string
		for err := error(nil); err == nil; {
			select {
			case last = <-s.sent:
				got = append(got, last.what)
			case err = <-s.ended:
				servertest.CheckError(t, err, codes.ResourceExhausted, "WATCH_TOO_SLOW", "more slowly than they occur")
			}
		}
		resumed := follow(t, s.Log, last.token)
		for m := resumed.next(time.Second); m.what != "bookmark" && m.what != "nothing"; m = resumed.next(time.Second) {
			got = append(got, m.what)
		}
		var want []string
		for i := range 12 {
			want = append(want, fmt.Sprint("0 ", 2*i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		resumed.stop(t)
	})
}

func aShutdownEndsAllWatchesWhetherOrNotTheyAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unread := follow(t, numbers(10), "")
		quiet := follow(t, numbers(), "")
		quiet.expect(t, time.Second, "bookmark")
		begin := time.Now()
		for _, s := range []*watching{unread, quiet} {
			s.watches.End()
			servertest.CheckError(t, s.end(), codes.Unavailable, "SHUTTING_DOWN", "the server is shutting down")
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("after %v", took)
		}
	})
}

func anErrorOfMessageEndsTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := follow(t, numbers(-1), "").end(); err == nil || err.Error() != "negative" {
			t.Errorf("in the initial state: %v", err)
		}
		s := follow(t, numbers(), "")
		s.expect(t, time.Second, "bookmark")
		n := -1
		s.Update(changelog.Place{}, changelog.Change[int]{Key: "0", Item: &n})
		if err := s.end(); err == nil || err.Error() != "negative" {
			t.Errorf("later: %v", err)
		}
	})
}
