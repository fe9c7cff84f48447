package print

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for of, want := range map[time.Duration]string{
		0: "0 minutes", 50 * time.Second: "1 minute", 119 * time.Minute: "119 minutes", 2 * time.Hour: "2 hours", 47*time.Hour + 20*time.Minute: "47 hours", 48 * time.Hour: "2 days", 71 * time.Hour: "3 days", 165 * time.Hour: "7 days", 720 * time.Hour: "30 days",
	} {
		if got := Duration(of); got != want {
			t.Errorf("%s is %q, want %q", of, got, want)
		}
	}
}
