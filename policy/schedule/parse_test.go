package schedule

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Run("a day, or a range of days", aDayOrARangeOfDays)
	t.Run("times of day are from 00:00 to 24:00", timesOfDayAreFrom0To24)
	t.Run("a window must start and end", aWindowMustStartAndEnd)
}

// days returns a set of days.
func days(all ...time.Weekday) (set Days) {
	for _, day := range all {
		set |= 1 << day
	}
	return set
}

func aDayOrARangeOfDays(t *testing.T) {
	for text, want := range map[string]Days{
		"Sun": days(time.Sunday), "Sunday": days(time.Sunday), "Sat": days(time.Saturday), "Wednesday": days(time.Wednesday),
		"Mon-Fri": days(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday),
		"Sat-Mon": days(time.Saturday, time.Sunday, time.Monday),
		"Mon-Sun": all,
		"Fri-Fri": days(time.Friday),
		"Thu-Wed": all,
		"Mon-":    0, "-Mon": 0, "": 0, "-": 0, "Mon-Wed-Fri": 0, "mon": 0, "Mo": 0, "Mond": 0, "Mondays": 0, "Mon - Fri": 0, "1": 0, "Mon,Tue": 0,
		"Monday-Friday": days(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday),
	} {
		got, err := ParseDays(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %07b, %v, want %07b", text, got, err, want)
		}
	}
	_, err := ParseDays("Mo-Fr")
	if want := "must be a day or a range of days, such as Mon, Monday or Mon-Fri"; err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func timesOfDayAreFrom0To24(t *testing.T) {
	for text, want := range map[string]Clock{
		"00:00": 0, "00:01": 1, "09:05": 545, "23:59": 1439, "24:00": Midnight,
		"24:01": -1, "25:00": -1, "12:60": -1, "9:00": -1, "9:000": -1, "12": -1, "12:00:00": -1, "12:0": -1, "": -1, " 9:00": -1, "-1:00": -1, "9am": -1, "12.00": -1,
	} {
		got, err := ParseClock(text)
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	_, err := ParseClock("9:00")
	if want := "must be a time from 00:00 to 24:00"; err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func aWindowMustStartAndEnd(t *testing.T) {
	for _, tc := range []struct {
		name     string
		from, to Clock
		want     string
	}{
		{"a whole day", 0, Midnight, ""},
		{"until midnight", 1320, 0, ""},
		{"the last minute", 1439, Midnight, ""},
		{"no time", 0, 0, "from and to must differ: for whole days, use 00:00 and 24:00"},
		{"a day that starts at noon", 720, 720, "from and to must differ: for whole days, use 00:00 and 24:00"},
		{"a start at the end of a day", Midnight, 60, "from must be before 24:00: use 00:00, and the next day"},
		{"the end of a day only", Midnight, Midnight, "from must be before 24:00: use 00:00, and the next day"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New(0, tc.from, tc.to, nil)
			if (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}
