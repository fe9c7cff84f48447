package schedule

import "testing"

func TestSchedule(t *testing.T) {
	nights, weekend := window(t, "22:00-06:00 Europe/Berlin"), window(t, "Sat Sun 00:00-24:00")
	for _, tc := range []struct {
		name     string
		schedule Schedule
		time     string
		open     bool
		next     string
	}{
		{"without windows, it is always open", nil, "2026-07-01 12:00 +0200", true, ""},
		{"it is open while one of its windows is", Schedule{nights, weekend}, "2026-07-04 12:00 +0200", true, ""},
		{"it is open while another of its windows is", Schedule{nights, weekend}, "2026-07-01 23:00 +0200", true, ""},
		{"it opens with the first window", Schedule{nights, weekend}, "2026-07-01 12:00 +0200", false, "2026-07-01 22:00 +0200"},
		{"the order of windows makes no difference", Schedule{weekend, nights}, "2026-07-01 12:00 +0200", false, "2026-07-01 22:00 +0200"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := at(t, tc.time)
			if got := tc.schedule.Contains(now); got != tc.open {
				t.Errorf("open: %t, want %t", got, tc.open)
			}
			if got := tc.schedule.Next(now); tc.next == "" && !got.IsZero() || tc.next != "" && !got.Equal(at(t, tc.next)) {
				t.Errorf("opens at %s, want %s", got, tc.next)
			}
		})
	}
}
