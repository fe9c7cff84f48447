package keys

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is what the suffix d of a duration means.
const Day = 24 * time.Hour

// Duration is a duration within bounds, such as 90s, 24h or 8d.
func Duration(least, most time.Duration) Kind[time.Duration] {
	from, example := DurationText(least), "24h or 8d"
	if most <= Day {
		example = "90s or 5m"
		if least == 0 {
			from = "0s"
		}
	}
	return Parsed(from+" to "+DurationText(most), DurationText, func(text string) (time.Duration, error) {
		d, err := parseDuration(text)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("must be a duration from %s to %s, such as %s", from, DurationText(most), example)
		}
		return d, nil
	})
}

// parseDuration is time.ParseDuration, which also knows days, such as 8d.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * Day, err
	}
	return time.ParseDuration(text)
}

// DurationText returns a duration as a user writes it.
func DurationText(d time.Duration) string {
	switch {
	case d%Day == 0:
		return fmt.Sprintf("%dd", d/Day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
