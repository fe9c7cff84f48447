package steppedclock

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestClock(t *testing.T) {
	path, start := filepath.Join(t.TempDir(), "clock"), time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	c, err := Create(path, start)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := c.Reached(); err != nil || !at.Before(start) {
		t.Errorf("it was reached before anybody follows: %v, %v", at, err)
	}
	follower, err := Follow(path)
	if err != nil || !follower.Now().Equal(start) {
		t.Fatalf("it does not begin at %v: %v", start, err)
	}
	ticker := follower.NewTicker(time.Minute)
	defer ticker.Stop()
	if err := c.Move(start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if at := <-ticker.C(); at.Before(start.Add(time.Minute)) {
		t.Errorf("it ticks early: %v", at)
	}
	localcluster.Eventually(t, "the time", func() error {
		at, err := c.Reached()
		if err == nil && !at.Equal(start.Add(time.Hour)) {
			err = fmt.Errorf("it is %v", at)
		}
		return err
	})
}
