package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	t.Run("contains the times that the clock shows within it", containsTheTimesThatTheClockShowsWithinIt)
	t.Run("opens when the clock next shows its start", opensWhenTheClockNextShowsItsStart)
	t.Run("equal windows are equal", equalWindowsAreEqual)
}

// window returns a window as it is written: days, from-to and a zone, of which the first and the
// last may be missing.
func window(t testing.TB, text string) Window {
	t.Helper()
	var set Days
	var from, to Clock
	var zone *time.Location
	for word := range strings.FieldsSeq(text) {
		var err error
		switch start, end, _ := strings.Cut(word, "-"); {
		case strings.Contains(word, ":"):
			if from, err = ParseClock(start); err == nil {
				to, err = ParseClock(end)
			}
		case strings.Contains(word, "/"):
			zone, err = ParseZone(word)
		default:
			var more Days
			more, err = ParseDays(word)
			set |= more
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := New(set, from, to, zone)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// at parses a time with an offset, such as "2026-03-29 01:59 +0100".
func at(t testing.TB, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse("2006-01-02 15:04 -0700", text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func containsTheTimesThatTheClockShowsWithinIt(t *testing.T) {
	for _, tc := range []struct {
		name, window string
		within, not  []string
	}{
		{"one that lasts past midnight belongs to the day on which it starts", "Wed 22:00-06:00",
			[]string{"2026-07-01 22:00 +0000", "2026-07-01 23:00 +0000", "2026-07-02 00:00 +0000", "2026-07-02 03:00 +0000", "2026-07-02 05:59 +0000"},
			[]string{"2026-07-01 03:00 +0000", "2026-07-01 21:59 +0000", "2026-07-02 06:00 +0000", "2026-07-02 23:00 +0000", "2026-07-03 03:00 +0000", "2026-06-30 23:00 +0000"}},
		{"within a day", "Mon-Fri 09:00-17:30", []string{"2026-07-01 09:00 +0000", "2026-07-03 17:29 +0000"}, []string{"2026-07-01 08:59 +0000", "2026-07-01 17:30 +0000", "2026-07-04 09:00 +0000"}},
		{"several days", "Mon Wed 00:00-24:00", []string{"2026-06-29 00:00 +0000", "2026-06-29 23:59 +0000", "2026-07-01 12:00 +0000"}, []string{"2026-06-30 00:00 +0000", "2026-06-28 23:59 +0000"}},
		{"until the end of a day", "Sat 22:00-24:00", []string{"2026-07-04 23:59 +0000"}, []string{"2026-07-05 00:00 +0000", "2026-07-04 21:59 +0000"}},
		{"until midnight", "Sat 22:00-00:00", []string{"2026-07-04 23:59 +0000"}, []string{"2026-07-05 00:00 +0000", "2026-07-04 21:59 +0000", "2026-07-04 00:00 +0000"}},
		{"the night after the last day of the week", "Sun 22:00-06:00", []string{"2026-07-06 05:59 +0000"}, []string{"2026-07-05 05:59 +0000"}},
		{"the night after the first day of the week", "Sat 22:00-06:00", []string{"2026-07-05 05:59 +0000"}, []string{"2026-07-04 05:59 +0000"}},
		{"every day", "22:00-06:00", []string{"2026-07-04 22:00 +0000", "2026-07-05 05:59 +0000"}, []string{"2026-07-05 06:00 +0000"}},
		{"before 1970", "Wed 22:00-06:00", []string{"1969-12-31 23:59 +0000", "1970-01-01 05:59 +0000", "1969-12-25 05:59 +0000"}, []string{"1969-12-31 21:59 +0000", "1970-01-01 06:00 +0000"}},
		{"in the zone of the window, whatever the zone of the time", "Wed 22:00-06:00 Europe/Berlin",
			[]string{"2026-07-01 20:00 +0000", "2026-07-02 03:59 +0000", "2026-07-01 16:00 -0400"}, []string{"2026-07-01 19:59 +0000", "2026-07-02 04:00 +0000"}},
		{"an hour that the clock skips", "02:00-03:00 Europe/Berlin", []string{"2026-03-28 02:30 +0100", "2026-03-30 02:30 +0200"}, []string{"2026-03-29 01:59 +0100", "2026-03-29 03:00 +0200"}},
		{"an hour of which the clock skips the start", "02:30-04:00 Europe/Berlin", []string{"2026-03-29 03:00 +0200", "2026-03-29 03:59 +0200"}, []string{"2026-03-29 01:59 +0100", "2026-03-29 04:00 +0200"}},
		{"an hour that the clock repeats", "02:00-03:00 Europe/Berlin", []string{"2026-10-25 02:00 +0200", "2026-10-25 02:59 +0200", "2026-10-25 02:00 +0100", "2026-10-25 02:59 +0100"}, []string{"2026-10-25 01:59 +0200", "2026-10-25 03:00 +0100"}},
		{"an hour of which the clock repeats the end", "Sat 22:00-02:30 Europe/Berlin", []string{"2026-10-25 02:29 +0200", "2026-10-25 02:00 +0100", "2026-10-25 02:29 +0100"}, []string{"2026-10-25 02:30 +0200", "2026-10-25 02:30 +0100"}},
		{"a night in which the clock changes", "Sat 22:00-06:00 America/New_York", []string{"2026-03-08 01:59 -0500", "2026-03-08 03:00 -0400", "2026-03-08 05:59 -0400"}, []string{"2026-03-08 06:00 -0400", "2026-03-08 05:59 -0500"}},
		{"a day that the zone skips", "Fri 22:00-06:00 Pacific/Apia", []string{"2011-12-31 05:59 +1400", "2012-01-06 22:00 +1400"}, []string{"2011-12-29 23:59 -1000", "2011-12-31 22:00 +1400"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := window(t, tc.window)
			for _, text := range tc.within {
				if !w.Contains(at(t, text)) {
					t.Errorf("%s is not within %s", text, tc.window)
				}
			}
			for _, text := range tc.not {
				if w.Contains(at(t, text)) {
					t.Errorf("%s is within %s", text, tc.window)
				}
			}
		})
	}
}

func opensWhenTheClockNextShowsItsStart(t *testing.T) {
	for _, tc := range []struct{ name, window, time, want string }{
		{"later today", "22:00-06:00", "2026-07-01 21:59 +0000", "2026-07-01 22:00 +0000"},
		{"tomorrow", "09:00-17:00", "2026-07-01 17:00 +0000", "2026-07-02 09:00 +0000"},
		{"after days that it leaves out", "Mon 09:00-17:00", "2026-07-01 12:00 +0000", "2026-07-06 09:00 +0000"},
		{"on the same day a week later", "Wed 09:00-17:00", "2026-07-01 17:00 +0000", "2026-07-08 09:00 +0000"},
		{"after the end of the night", "Wed 22:00-06:00", "2026-07-02 06:00 +0000", "2026-07-08 22:00 +0000"},
		{"before 1970", "Wed 22:00-06:00", "1969-12-26 00:00 +0000", "1969-12-31 22:00 +0000"},
		{"while it is open", "22:00-06:00", "2026-07-02 05:59 +0000", ""},
		{"always open", "00:00-24:00", "2026-07-02 05:59 +0000", ""},
		{"at a start that the clock skips", "02:30-04:00 Europe/Berlin", "2026-03-29 01:59 +0100", "2026-03-29 03:00 +0200"},
		{"on a day on which the clock skips all of it", "02:00-03:00 Europe/Berlin", "2026-03-29 01:59 +0100", "2026-03-30 02:00 +0200"},
		{"in a week in which the clock skips all of it", "Sun 02:00-03:00 Europe/Berlin", "2026-03-28 12:00 +0100", "2026-04-05 02:00 +0200"},
		{"between the hours that the clock repeats", "02:00-02:30 Europe/Berlin", "2026-10-25 02:30 +0200", "2026-10-25 02:00 +0100"},
		{"when the clock returns to its end", "Sat 22:00-02:30 Europe/Berlin", "2026-10-25 02:45 +0200", "2026-10-25 02:00 +0100"},
		{"when the clock returns before its start", "02:45-04:00 Europe/Berlin", "2026-10-25 01:00 +0200", "2026-10-25 02:45 +0200"},
		{"again after the clock has returned before its start", "02:45-04:00 Europe/Berlin", "2026-10-25 02:00 +0100", "2026-10-25 02:45 +0100"},
		{"a start after the clock changes", "06:00-07:00 Europe/Berlin", "2026-03-29 01:00 +0100", "2026-03-29 06:00 +0200"},
		{"exactly when the clock changes", "03:00-04:00 Europe/Berlin", "2026-03-29 01:00 +0100", "2026-03-29 03:00 +0200"},
		{"a midnight that the clock skips", "Sun 00:00-02:00 America/Sao_Paulo", "2018-11-03 12:00 -0300", "2018-11-04 01:00 -0200"},
		{"a day that the zone skips", "Fri 22:00-06:00 Pacific/Apia", "2011-12-29 12:00 -1000", "2011-12-31 00:00 +1400"},
		{"on the last day of a leap year", "09:00-10:00 Europe/Berlin", "2040-12-31 12:00 +0100", "2041-01-01 09:00 +0100"},
		{"half an hour", "01:30-02:00 Australia/Lord_Howe", "2026-04-05 01:00 +1100", "2026-04-05 01:30 +1100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := window(t, tc.window).Next(at(t, tc.time))
			if tc.want == "" && !got.IsZero() || tc.want != "" && !got.Equal(at(t, tc.want)) {
				t.Errorf("%s opens at %s, want %s", tc.window, got, tc.want)
			}
		})
	}
}

func equalWindowsAreEqual(t *testing.T) {
	if window(t, "Mon-Sun 22:00-06:00 Europe/Berlin") != window(t, "22:00-06:00 Europe/Berlin") {
		t.Error("all days differ from none")
	}
	if window(t, "22:00-06:00 Europe/Berlin") == window(t, "22:00-06:00") {
		t.Error("the zone makes no difference")
	}
}
