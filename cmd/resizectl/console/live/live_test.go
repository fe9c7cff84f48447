package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTree(t *testing.T) {
	for _, tc := range []struct{ html, want string }{
		{`<div id="view"><p class="a">x &lt;b&gt; &amp; y</p></div>`, `["div",{"id":"view"},[["p",{"class":"a"},["x \u003cb\u003e \u0026 y"]]]]`},
		{" \n<div><!-- none --><br></div>", `["div",{},[["br",{},[]]]]`},
		{`<div><table><tbody><tr data-key="k"><td>1</td></tr></tbody></table></div>`, `["div",{},[["table",{},[["tbody",{},[["tr",{"data-key":"k"},[["td",{},["1"]]]]]]]]]]`},
	} {
		if got, err := Tree(tc.html); err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v", tc.html, got, err)
		}
	}
	if _, err := Tree("only text"); err == nil {
		t.Error("text is a tree")
	}
}

// browser is what a browser receives, with the times of the events.
type browser struct {
	*httptest.ResponseRecorder
	times []time.Time
}

func (b *browser) Write(p []byte) (int, error) {
	if strings.Contains(string(p), `"tree"`) {
		b.times = append(b.times, time.Now())
	}
	return b.ResponseRecorder.Write(p)
}

func (b *browser) Unwrap() http.ResponseWriter { return b.ResponseRecorder }

// send sends parts for a time, after which the browser goes away.
func send(t *testing.T, last time.Duration, next Part) *browser {
	ctx, cancel := context.WithTimeout(t.Context(), last)
	defer cancel()
	return sendUntil(ctx, &Streams{t.Context(), "p"}, next)
}

// sendUntil sends parts until the browser goes away.
func sendUntil(gone context.Context, s *Streams, next Part) *browser {
	b := &browser{ResponseRecorder: httptest.NewRecorder()}
	s.Send(b, httptest.NewRequestWithContext(gone, http.MethodGet, "/live/", nil), next)
	return b
}

// beats is what a browser receives of so many beats.
func beats(n int) string { return strings.Repeat("event: beat\ndata: {\"proof\":\"p\"}\n\n", n) }

func TestSend(t *testing.T) {
	t.Run("sends at most twice a second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			changes := 0
			b := send(t, 5*time.Second, func(context.Context) (string, error) {
				time.Sleep(20 * time.Millisecond)
				changes++
				return fmt.Sprintf("<p>%d</p>", changes), nil
			})
			if len(b.times) < 8 || len(b.times) > 10 {
				t.Errorf("%d events in 5 seconds", len(b.times))
			}
			for i := 1; i < len(b.times); i++ {
				if d := b.times[i].Sub(b.times[i-1]); d < Least {
					t.Errorf("two events within %s", d)
				}
			}
			if got := b.Header().Get("Content-Type"); got != "text/event-stream" {
				t.Errorf("they are %s", got)
			}
		})
	})
	t.Run("sends only changes, and that the process runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := send(t, 35*time.Second, func(context.Context) (string, error) {
				time.Sleep(time.Second)
				return "<p>the same</p>", nil
			})
			if got, want := b.Body.String(), beats(1)+"event: message\ndata: {\"proof\":\"p\",\"tree\":[\"p\",{},[\"the same\"]]}\n\n"+beats(3); got != want {
				t.Errorf("it sends %q", got)
			}
		})
	})
	t.Run("ends with the part", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := send(t, time.Hour, func(context.Context) (string, error) { return "", errors.New("gone") })
			if b.Body.String() != beats(1) {
				t.Errorf("it sends %s", b.Body)
			}
		})
	})
	t.Run("says that the process ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			b := sendUntil(ctx, &Streams{ctx, "p"}, func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() })
			if got, want := b.Body.String(), beats(1)+"event: ended\ndata: {\"proof\":\"p\"}\n\n"; got != want {
				t.Errorf("it sends %q, want %q", got, want)
			}
		})
	})
	t.Run("has another proof in each process", func(t *testing.T) {
		if a, b := New(t.Context()), New(t.Context()); a.Proof == b.Proof || len(a.Proof) < 26 {
			t.Errorf("the proofs are %s and %s", a.Proof, b.Proof)
		}
	})
}
