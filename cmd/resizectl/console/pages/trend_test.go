package pages

import (
	"testing"
	"time"
)

// TestWeekBefore checks that a week begins on Monday, at midnight where people are, even if clocks change in it.
func TestWeekBefore(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		now        time.Time
		begin, end string
	}{
		{time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{time.Date(2026, 11, 29, 23, 59, 59, 0, time.UTC), "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"},
		{time.Date(2027, 1, 2, 12, 0, 0, 0, time.UTC), "2026-12-21T00:00:00Z", "2026-12-28T00:00:00Z"},
		{time.Date(2026, 10, 28, 12, 0, 0, 0, berlin), "2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{time.Date(2026, 3, 31, 1, 0, 0, 0, berlin), "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
	} {
		begin, end := weekBefore(tc.now)
		if got, want := begin.Format(time.RFC3339)+" "+end.Format(time.RFC3339), tc.begin+" "+tc.end; got != want {
			t.Errorf("before %s: %s, want %s", tc.now, got, want)
		}
	}
}

// TestWeekThatWasRead checks that a page names the week that was read, and not the one that would be read by now.
func TestWeekThatWasRead(t *testing.T) {
	of := trendOptions{Days: lastWeek}
	read := trend{monday: time.Date(2026, 10, 19, 0, 0, 0, 0, time.UTC)}
	if got, want := of.in(&read), "the week from 2026-10-19 to 2026-10-25"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	monday, _ := weekBefore(time.Now())
	if got, want := of.in(&trend{}), "the week from "+monday.Format(time.DateOnly)+" to "+monday.AddDate(0, 0, 6).Format(time.DateOnly); got != want {
		t.Errorf("before anything is read: %s, want %s", got, want)
	}
}
