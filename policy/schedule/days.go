package schedule

import (
	"errors"
	"strings"
	"time"
)

// Days is a set of days of the week: the bit 1<<d is set for each weekday d.
type Days uint8

// all has every day of the week.
const all Days = 1<<7 - 1

func (d Days) has(day time.Weekday) bool { return d&(1<<day) != 0 }

// ParseDays parses a day, or a range of days: Mon, Monday or Mon-Fri. A range may include the end
// of the week, such as Sat-Mon.
func ParseDays(text string) (Days, error) {
	start, end, isRange := strings.Cut(text, "-")
	if !isRange {
		end = start
	}
	first, ok := weekday(start)
	last, also := weekday(end)
	if !ok || !also {
		return 0, errors.New("must be a day or a range of days, such as Mon, Monday or Mon-Fri")
	}
	var days Days
	for day := first; ; day = (day + 1) % 7 {
		if days |= 1 << day; day == last {
			return days, nil
		}
	}
}

func weekday(name string) (time.Weekday, bool) {
	for day := range time.Weekday(7) {
		if full := day.String(); name == full || name == full[:3] {
			return day, true
		}
	}
	return 0, false
}
