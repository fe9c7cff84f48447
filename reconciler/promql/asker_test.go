package promql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	testclock "k8s.io/utils/clock/testing"
)

// fixture asks questions about work. Their answers depend on the query.
type fixture struct {
	*Asker
	clock  *testclock.FakeClock
	answer func(ctx context.Context, query string) error

	mu    sync.Mutex
	asked []string
}

const patience = 10 * time.Second

func newFixture() *fixture {
	f := &fixture{clock: testclock.NewFakeClock(time.Unix(0, 0))}
	f.Asker = New(Config{
		Query: func(ctx context.Context, address, query string, _ time.Time, take func(Element)) error {
			f.mu.Lock()
			f.asked = append(f.asked, address+" "+query)
			f.mu.Unlock()
			take(Element{Pod: query})
			return f.answer(ctx, query)
		},
		Clock: f.clock, Patience: patience, Busy: errors.New("busy"), Labels: "pod", Subject: "Work", Consequence: "it rests",
	})
	return f
}

// ask asks questions, such as "p up" for the query up to the Prometheus p, and returns which failed and which were asked.
func (f *fixture) ask(ctx context.Context, questions ...string) (failed, asked []string) {
	var all []Question
	for _, q := range questions {
		address, query, _ := strings.Cut(q, " ")
		all = append(all, Question{address, query})
	}
	f.asked = nil
	var mu sync.Mutex
	f.Ask(ctx, all, func(i int) error {
		return f.Answer(ctx, all[i], time.Unix(0, 0), func(e Element) bool { return e.Pod != "unlabeled" })
	}, func(i int, err error) string {
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, questions[i]+": "+err.Error())
		return "rule " + fmt.Sprint(i)
	})
	slices.Sort(failed)
	return failed, f.asked
}

func TestAsk(t *testing.T) {
	t.Run("the first that fails does not fail the others", func(t *testing.T) {
		f := newFixture()
		f.answer = func(_ context.Context, query string) error {
			return map[string]error{"a": errors.New("no\nsuch  thing"), "d": errors.New("down")}[query]
		}
		failed, asked := f.ask(t.Context(), "p a", "p b", "p c", "q d")
		if !slices.Equal(failed, []string{"p a: no\nsuch  thing", "q d: down"}) || len(asked) != 4 || f.Failing() != 2 {
			t.Errorf("%q, %q", failed, asked)
		}
		const want = "rule 0 cannot be read from p, so it rests: no such thing\nrule 3 cannot be read from q, so it rests: down"
		if err := f.Problem(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		f.answer = func(context.Context, string) error { return nil }
		if failed, _ := f.ask(t.Context(), "p a"); failed != nil || f.Problem() != nil || f.Failing() != 0 {
			t.Errorf("%q, %v", failed, f.Problem())
		}
	})
	t.Run("a Prometheus waits for no other", func(t *testing.T) {
		f, second := newFixture(), make(chan struct{})
		f.answer = func(ctx context.Context, query string) error {
			if query == "second" {
				close(second)
				return nil
			}
			select {
			case <-second:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if failed, _ := f.ask(t.Context(), "p first", "q second"); failed != nil {
			t.Errorf("%q", failed)
		}
	})
	t.Run("one that takes too long ends the round for its Prometheus, and is asked last", func(t *testing.T) {
		f := newFixture()
		slow := true
		f.answer = func(_ context.Context, query string) error {
			if query != "slow" || !slow {
				return nil
			}
			f.clock.Step(patience)
			return context.DeadlineExceeded
		}
		questions := []string{"p slow", "p a", "p b"}
		for _, want := range []struct{ failed, asked []string }{
			{[]string{"p a: busy", "p b: busy", "p slow: context deadline exceeded"}, []string{"p slow"}},
			{[]string{"p slow: context deadline exceeded"}, []string{"p a", "p b", "p slow"}},
		} {
			if failed, asked := f.ask(t.Context(), questions...); !slices.Equal(failed, want.failed) || !slices.Equal(asked, want.asked) {
				t.Errorf("%q, %q, want %v", failed, asked, want)
			}
		}
		slow = false
		f.ask(t.Context(), questions...)
		if _, asked := f.ask(t.Context(), questions...); asked[0] != "p slow" {
			t.Errorf("%q although it answered in time", asked)
		}
	})
	t.Run("an answer has a time limit", func(t *testing.T) {
		f := newFixture()
		f.answer = func(ctx context.Context, _ string) error {
			if at, ok := ctx.Deadline(); !ok || time.Until(at) > patience {
				t.Errorf("%v, %v", at, ok)
			}
			return nil
		}
		f.ask(t.Context(), "p a")
	})
	t.Run("an answer without labels does not count", func(t *testing.T) {
		f := newFixture()
		f.answer = func(context.Context, string) error { return nil }
		failed, _ := f.ask(t.Context(), "p a", "p unlabeled")
		if want := "p unlabeled: no element has the labels pod: aggregate by them, as in sum by (namespace, pod) (…)"; !slices.Equal(failed, []string{want}) {
			t.Errorf("%q", failed)
		}
	})
	t.Run("nothing fails because the process ends, or nothing is asked", func(t *testing.T) {
		f := newFixture()
		f.answer = func(context.Context, string) error { return errors.New("down") }
		f.ask(t.Context(), "p a")
		f.Rest()
		if err := f.Problem(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f.answer = func(context.Context, string) error { cancel(); return ctx.Err() }
		if failed, asked := f.ask(ctx, "p a", "p b"); failed != nil || len(asked) != 1 || f.Problem() != nil {
			t.Errorf("%q, %q", failed, asked)
		}
	})
	t.Run("logs a failure when it begins, changes and ends", func(t *testing.T) {
		f, logger := newFixture(), ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		ctx := klog.NewContext(t.Context(), logger)
		for _, err := range []error{nil, errors.New("down"), errors.New("down"), errors.New("wrong"), nil, nil} {
			f.answer = func(context.Context, string) error { return err }
			f.ask(ctx, "p a")
		}
		var got []string
		for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
			got = append(got, fmt.Sprint(entry.Message, " ", entry.ParameterKVList))
		}
		want := []string{"Work not known; it rests [prometheus p query a why down]", "Work not known; it rests [prometheus p query a why wrong]", "Work known again [prometheus p query a]"}
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

func TestRun(t *testing.T) {
	f := newFixture()
	ctx, cancel := context.WithCancel(t.Context())
	rounds, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx, func(context.Context) { rounds <- struct{}{} })
	}()
	for range 3 {
		for !f.clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		f.clock.Step(Interval)
		<-rounds
	}
	cancel()
	<-ended
}
