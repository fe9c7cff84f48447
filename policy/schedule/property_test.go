package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

// zoneNames are zones whose clocks change in many ways: by half an hour, at midnight, by a day,
// several times a year, from an offset with seconds, or never.
var zoneNames = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "Africa/Casablanca",
	"Asia/Gaza", "Africa/Monrovia", "America/St_Johns", "Asia/Kathmandu", "Antarctica/Troll", "America/Asuncion",
}

// open is Contains, written as a person would check it on a calendar and a clock.
func open(w Window, t time.Time) bool {
	t = t.In(w.zone)
	calendar := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	clock := Clock(t.Hour()*60 + t.Minute())
	today, yesterday := w.days.has(calendar.Weekday()), w.days.has(calendar.AddDate(0, 0, -1).Weekday())
	if w.from > w.to {
		return today && clock >= w.from || yesterday && clock < w.to
	}
	return today && clock >= w.from && clock < w.to
}

// check checks the window at a time, and everything until it next opens.
func check(t *testing.T, w Window, now time.Time) {
	t.Helper()
	if got := w.Contains(now); got != open(w, now) {
		t.Errorf("%+v contains %s: %t", w, now.In(w.zone), got)
	}
	next := w.Next(now)
	if w.Contains(now) {
		if !next.IsZero() {
			t.Errorf("%+v is open at %s, but opens at %s", w, now.In(w.zone), next)
		}
		return
	}
	// A clock that skips a window in one week shows it in the next.
	if !next.After(now) || next.Sub(now) > 15*24*time.Hour || !open(w, next) || open(w, next.Add(-time.Nanosecond)) {
		t.Fatalf("%+v opens at %s after %s", w, next, now.In(w.zone))
	}
	for at := now; at.Before(next); at = at.Add(time.Minute) {
		if open(w, at) {
			t.Fatalf("%+v opens at %s, but is open at %s, after %s", w, next, at.In(w.zone), now.In(w.zone))
		}
	}
}

// anyWindow returns the window of any numbers; false if they are not one.
func anyWindow(t *testing.T, days uint8, from, to uint16, zone uint8) (Window, bool) {
	t.Helper()
	location, err := ParseZone(zoneNames[int(zone)%len(zoneNames)])
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Days(days)&all, Clock(from)%(Midnight+1), Clock(to)%(Midnight+1), location)
	return w, err == nil
}

func TestAnyWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		w, ok := anyWindow(t, uint8(random.Uint32()), uint16(random.Uint32()), uint16(random.Uint32()), uint8(random.Uint32()))
		if !ok {
			continue
		}
		now := time.Unix(random.Int64N(2100*365*24*60*60)%(130*365*24*60*60), random.Int64N(1e9))
		check(t, w, now)
		// The clock changes soon after.
		if _, change := now.In(w.zone).ZoneBounds(); !change.IsZero() {
			check(t, w, change.Add(-time.Duration(random.Int64N(int64(12*time.Hour)))))
			check(t, w, change)
		}
	}
}

func FuzzWindow(f *testing.F) {
	f.Add(uint8(0b0001000), uint16(1320), uint16(360), uint8(1), int64(1774742400), int64(0))
	f.Add(uint8(0), uint16(150), uint16(240), uint8(3), int64(1792890000), int64(999_999_999))
	f.Fuzz(func(t *testing.T, days uint8, from, to uint16, zone uint8, seconds, nanoseconds int64) {
		// The years 1900 to 2300.
		const first, last = -2_208_988_800, 10_413_792_000
		if w, ok := anyWindow(t, days, from, to, zone); ok && seconds > first && seconds < last {
			check(t, w, time.Unix(seconds, nanoseconds%1e9))
		}
	})
}
