package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"time"
)

// Window is a part of one or more days of the week. Windows that are equal contain the same times.
type Window struct {
	days     Days
	from, to Clock
	zone     *time.Location
}

// New returns the window that starts at from on each of the days, which are all if there is none,
// and ends when the clock in the zone next shows to. Without a zone, it is in UTC.
func New(days Days, from, to Clock, zone *time.Location) (Window, error) {
	if from == Midnight {
		return Window{}, errors.New("from must be before 24:00: use 00:00, and the next day")
	}
	if from == to {
		return Window{}, errors.New("from and to must differ: for whole days, use 00:00 and 24:00")
	}
	return Window{days: cmp.Or(days, all), from: from, to: to, zone: cmp.Or(zone, time.UTC)}, nil
}

// Contains reports whether a time is within the window.
func (w Window) Contains(t time.Time) bool { return w.shows(shown(t.In(w.zone))) }

// Next returns when the window next opens; zero if it is open.
func (w Window) Next(t time.Time) time.Time {
	if w.Contains(t) {
		return time.Time{}
	}
	// Until the clock is changed, it is an ordinary clock. A change may move it into the window.
	for at := time.Unix(t.Unix(), 0).In(w.zone); ; {
		now := shown(at)
		opens := at.Add(time.Duration(w.next(now)-now) * time.Second)
		change, found := changed(at, opens)
		switch {
		case !found:
			return opens
		case w.Contains(change):
			return change
		}
		at = change
	}
}

// changed returns when the clock in the zone of both times is first changed after from and not after
// to; false if it is not. Time.ZoneBounds does not help: in Go 1.26, on the last day of a leap year,
// it returns an end that has passed.
func changed(from, to time.Time) (time.Time, bool) {
	// No clock is changed twice within a step.
	const step = 12 * time.Hour
	for from.Before(to) {
		_, offset := from.Zone()
		isChanged := func(seconds int) bool {
			_, now := from.Add(time.Duration(seconds) * time.Second).Zone()
			return now != offset
		}
		length := min(step, to.Sub(from))
		if seconds := int(length / time.Second); isChanged(seconds) {
			return from.Add(time.Duration(sort.Search(seconds, isChanged)) * time.Second), true
		}
		from = from.Add(length)
	}
	return time.Time{}, false
}

// local is what a clock shows, in seconds since it showed the beginning of 1970.
type local int64

// shown returns what the clock in the zone of a time shows.
func shown(t time.Time) local {
	_, offset := t.Zone()
	return local(t.Unix()) + local(offset)
}

const dayLength = local(24 * time.Hour / time.Second)

// day returns the day that the clock shows, as a number, and the seconds since that day began.
func (l local) day() (day, since local) {
	since = (l%dayLength + dayLength) % dayLength
	return (l - since) / dayLength, since
}

// startsOn reports whether the window starts on a day.
func (w Window) startsOn(day local) bool {
	// The first day of 1970 was a Thursday.
	return w.days.has(time.Weekday(((day+local(time.Thursday))%7 + 7) % 7))
}

func (c Clock) seconds() local { return local(c) * 60 }

// shows reports whether what a clock shows is within the window.
func (w Window) shows(l local) bool {
	day, since := l.day()
	if w.from < w.to {
		return w.startsOn(day) && w.from.seconds() <= since && since < w.to.seconds()
	}
	return w.startsOn(day) && w.from.seconds() <= since || w.startsOn(day-1) && since < w.to.seconds()
}

// next returns what a clock that is not changed shows when the window next starts.
func (w Window) next(l local) local {
	day, since := l.day()
	if since >= w.from.seconds() {
		day++
	}
	for range 6 {
		if w.startsOn(day) {
			break
		}
		day++
	}
	return day*dayLength + w.from.seconds()
}

// MarshalText implements encoding.TextMarshaler. Windows that differ have different texts.
func (w Window) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d %d-%d %s", w.days, w.from, w.to, w.zone), nil
}
