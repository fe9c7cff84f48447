package steppedclock

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

// Variable is the environment variable with the path of the file that a program follows.
const Variable = "WORKLOAD_RESIZER_STEPPED_CLOCK"

const (
	// grain is how far a clock moves at a time: what waits for less waits that long. What waits for more keeps its order.
	grain = 15 * time.Second
	// pause is the time between two moves, in which the program does what was due.
	pause = 2 * time.Millisecond
)

// The places of the two times in a file, as nanoseconds.
const (
	wanted  = 0
	reached = 8
)

// Clock is the clock of one process. Only one other process may move it.
type Clock struct{ file *os.File }

// Create creates a clock that stands at a time, in a file that must not exist.
func Create(path string, at time.Time) (*Clock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	c := &Clock{file}
	if err := c.write(reached, time.Unix(0, 0)); err != nil {
		return nil, err
	}
	return c, c.write(wanted, at)
}

// Move moves the clock forward.
func (c *Clock) Move(to time.Time) error { return c.write(wanted, to) }

// Reached returns how far the process has come; long ago if it has not started.
func (c *Clock) Reached() (time.Time, error) { return c.read(reached) }

// Follow returns a clock that follows the file for as long as the process runs.
func Follow(path string) (clock.WithTicker, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	c := &Clock{file}
	at, err := c.read(wanted)
	if err != nil {
		return nil, err
	}
	follower := testingclock.NewFakeClock(at)
	go func() {
		for {
			if err := c.follow(follower); err != nil {
				panic(err) // The program would wait forever.
			}
			time.Sleep(pause)
		}
	}()
	return follower, nil
}

// follow moves a follower by at most a grain.
func (c *Clock) follow(follower *testingclock.FakeClock) error {
	to, err := c.read(wanted)
	if err != nil {
		return err
	}
	if left := to.Sub(follower.Now()); left > 0 {
		follower.Step(min(left, grain))
	}
	return c.write(reached, follower.Now())
}

func (c *Clock) read(place int64) (time.Time, error) {
	var b [8]byte
	if _, err := c.file.ReadAt(b[:], place); err != nil {
		return time.Time{}, fmt.Errorf("read the clock: %w", err)
	}
	return time.Unix(0, int64(binary.LittleEndian.Uint64(b[:]))).UTC(), nil
}

func (c *Clock) write(place int64, at time.Time) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(at.UnixNano()))
	if _, err := c.file.WriteAt(b[:], place); err != nil {
		return fmt.Errorf("move the clock: %w", err)
	}
	return nil
}
