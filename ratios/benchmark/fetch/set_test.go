package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestSet(t *testing.T) {
	t.Run("adds changes and removes feeds while others continue", addsChangesAndRemovesFeedsWhileOthersContinue)
	t.Run("delivers samples later that could not be delivered", deliversSamplesLaterThatCouldNotBeDelivered)
	t.Run("Run returns even if a server hangs", runReturnsEvenIfAServerHangs)
	t.Run("Set works before and after Run", setWorksBeforeAndAfterRun)
}

func addsChangesAndRemovesFeedsWhileOthersContinue(t *testing.T) {
	folder := t.TempDir()
	of := func(name, file string, interval time.Duration) Feed {
		path := filepath.Join(folder, file)
		write(t, path, file)
		return Feed{Name: name, Place: Place{File: path}, Interval: interval}
	}
	stays, removed, changed := of("stays", "a", time.Hour), of("removed", "b", time.Hour), of("changed", "c", time.Hour)
	p := poll(t, stays, removed, changed)
	// tried advances the clock by seconds until every feed was tried. It returns when, by name.
	tried := func() map[string]time.Time {
		t.Helper()
		times := map[string]time.Time{}
		localcluster.Eventually(t, "the tries", func() error {
			p.clock.Step(time.Second)
			clear(times)
			for _, s := range p.Statuses() {
				if times[s.Feed.Name] = s.LastTry; s.LastTry.IsZero() {
					return errors.New(s.Feed.Name + " was not tried")
				}
			}
			return nil
		})
		return times
	}
	before := tried()

	changed.File = of("", "d", 0).File
	p.Set([]Feed{stays, changed, of("added", "e", time.Hour)})
	if got := p.Statuses(); len(got) != 3 || got[0].Feed.Name != "added" || !got[1].LastTry.IsZero() {
		t.Errorf("right after the change: %+v", got)
	}
	after := tried()
	if len(before) != 3 || len(after) != 3 || !after["stays"].Equal(before["stays"]) || !after["changed"].After(before["changed"]) {
		t.Errorf("tried at %v, then at %v", before, after)
	}
	p.Set(nil)
	p.clock.Step(24 * time.Hour)
	if got := p.Statuses(); len(got) != 0 {
		t.Errorf("without feeds: %+v", got)
	}
	do(t, p.end())
	slices.SortFunc(p.delivered, func(a, b []sample.Sample) int { return int(a[0].ID[0]) - int(b[0].ID[0]) })
	p.wantDelivered("a", "b", "c", "d", "e")
}

func deliversSamplesLaterThatCouldNotBeDelivered(t *testing.T) {
	s := newSite(t, httptest.NewServer, text("a"))
	p := poll(t, s.feed())
	p.refuseSamples(errors.New("no room"))
	first := p.first()
	p.wantErr(first, "store the samples of "+s.URL+"/scores: no room")
	if !first.LastSuccess.IsZero() || first.Result.Rows != 1 {
		t.Errorf("status %+v", first)
	}
	s.serve(text("broken"))
	p.wantErr(p.after(time.Minute), "unknown format; store the samples of")
	p.refuseSamples(nil)
	p.wantErr(p.after(2*time.Minute), "unknown format")
	p.wantDelivered("a")
	p.after(4 * time.Minute)
	p.wantDelivered("a")
}

func runReturnsEvenIfAServerHangs(t *testing.T) {
	asked := make(chan struct{})
	s := newSite(t, httptest.NewServer, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	p := poll(t, s.feed())
	localcluster.Eventually(t, "the try", func() error {
		p.clock.Step(firstPause)
		select {
		case <-asked:
			return nil
		default:
			return errors.New("no request yet")
		}
	})
	do(t, p.end())
	if got := p.Statuses()[0]; !got.LastTry.IsZero() {
		t.Errorf("the end of Run counts as an error of the feed: %+v", got)
	}
	if p.clock.HasWaiters() {
		t.Error("a timer still waits")
	}
}

func setWorksBeforeAndAfterRun(t *testing.T) {
	p := poll(t)
	do(t, p.end())
	p.Set([]Feed{{Name: "b", Place: Place{File: "/b"}}, {Name: "a", Place: Place{File: "/a"}}})
	if got := p.Statuses(); len(got) != 2 || got[0].Feed.Name != "a" || got[1].Feed.Name != "b" {
		t.Errorf("statuses %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	do(t, p.Run(ctx))
}
