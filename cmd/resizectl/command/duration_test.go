package command_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestDuration(t *testing.T) {
	const wrong = "must be a duration, such as 30s, 5m, 48h or 2d"
	for _, tc := range []struct {
		text, shown, err string
		want             time.Duration
	}{
		{"30s", "30s", "", 30 * time.Second},
		{"2d", "2d", "", 48 * time.Hour},
		{"48h", "2d", "", 48 * time.Hour},
		{"1d", "24h0m0s", "", 24 * time.Hour},
		{"1d12h30m", "36h30m0s", "", 36*time.Hour + 30*time.Minute},
		{"0d", "0s", "", 0},
		{"-1h", "-1h0m0s", "", -time.Hour},
		{"106751d", "106751d", "", 106751 * 24 * time.Hour},
		{"106752d", "", "is longer than 292y: " + wrong, 0},
		{"99999999999999999999d", "", "is longer than 292y: " + wrong, 0},
		{"106751d24h", "", wrong, 0},
		{"1d-1h", "", wrong, 0},
		{"-1d", "", wrong, 0},
		{"1.5d", "", wrong, 0},
		{"1h1d", "", wrong, 0},
		{"d", "", wrong, 0},
		{"10", "", wrong, 0},
		{"", "", wrong, 0},
	} {
		var got time.Duration
		flag := command.Duration(&got)
		err := flag.Set(tc.text)
		if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err || got != tc.want || err == nil && flag.String() != tc.shown {
			t.Errorf("%q is %v (%s), %v; want %v (%s), %q", tc.text, got, flag, err, tc.want, tc.shown, tc.err)
		}
	}
}
