package print

import "testing"

func TestDemand(t *testing.T) {
	for _, test := range []struct{ resource, amount, want string }{
		{"memory", "531234567", "507Mi"},
		{"memory", "1073741823", "1Gi"},
		{"memory", "1Gi", "1Gi"},
		{"memory", "1000", "1000"},
		{"memory", "9223372036854775807", "9223372036854775807"},
		{"memory", "unknown", "unknown"},
		{"memory", "", Absent},
		{"cpu", "480m", "480m"},
		{"cpu", "2000000", "2000000"},
	} {
		if got := Demand(test.resource, test.amount); got != test.want {
			t.Errorf("%s %s is shown as %s, want %s", test.resource, test.amount, got, test.want)
		}
	}
}
