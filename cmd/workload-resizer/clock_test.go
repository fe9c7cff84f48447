package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/steppedclock"
)

// TestMain runs the tests, or the program itself if the environment names a clock that it has to follow: "make
// soak-weeks" runs servers whose days take seconds.
func TestMain(m *testing.M) {
	path := os.Getenv(steppedclock.Variable)
	if path == "" {
		os.Exit(m.Run())
	}
	var err error
	if decisionClock, err = steppedclock.Follow(path); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	main()
}
