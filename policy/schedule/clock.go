package schedule

import (
	"errors"
	"time"
)

// Clock is a time of day, in minutes since midnight as a clock shows them: 24:00 is 1440.
type Clock int

// Midnight is the end of a day.
const Midnight Clock = 24 * 60

// ParseClock parses a time of day from 00:00 to 24:00.
func ParseClock(text string) (Clock, error) {
	if text == "24:00" {
		return Midnight, nil
	}
	t, err := time.Parse("15:04", text)
	// The layout also accepts hours of one digit.
	if err != nil || len(text) != len("15:04") {
		return 0, errors.New("must be a time from 00:00 to 24:00")
	}
	return Clock(t.Hour()*60 + t.Minute()), nil
}
