package print

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		line := NewProgress(&log)
		for _, text := range []string{"first", "second", "third", "fourth", "fifth"} {
			line.Show(text)
			line.Clear()
			time.Sleep(eachLine / 2)
		}
		if want := "third\nfifth\n"; log.String() != want {
			t.Errorf("a log has %q, want %q", log.String(), want)
		}
	})
}

func TestBar(t *testing.T) {
	for _, tc := range []struct {
		done, total int64
		want        string
	}{
		{0, 10, "[..............................]   0%"},
		{5, 10, "[###############...............]  50%"},
		{10, 10, "[##############################] 100%"},
		{-1, 10, "[..............................]   0%"},
		{11, 10, "[##############################] 100%"},
		{0, 0, "[##############################] 100%"},
	} {
		if got := bar(tc.done, tc.total); got != tc.want {
			t.Errorf("%d of %d is %s, want %s", tc.done, tc.total, got, tc.want)
		}
	}
}
