package sizing

import (
	"strings"
	"testing"
)

func TestPlausible(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"accepts a quantity without an exponent", "1.5", true},
		{"accepts 64 characters", strings.Repeat("1", 64), true},
		{"rejects 65 characters", strings.Repeat("1", 65), false},
		{"accepts an exponent of two digits", "12345678e-99", true},
		{"rejects an exponent of three digits", "1e-999", false},
		{"accepts three characters of exponent, with or without a sign", "1E999", true},
		{"rejects 65 characters with an exponent", strings.Repeat("1", 62) + "e10", false},
		{"counts an exponent without a number before it", "e-999", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Plausible(tc.text); got != tc.want {
				t.Errorf("Plausible(%q) is %t", tc.text, got)
			}
		})
	}
}

func TestQuantity(t *testing.T) {
	if q, err := Quantity("1500m"); err != nil || q.MilliValue() != 1500 {
		t.Errorf("1500m is read as %v: %v", &q, err)
	}
	for _, text := range []string{"", "much", "1e-2147483647"} { // The last would take hours to read.
		if q, err := Quantity(text); err == nil || !q.IsZero() {
			t.Errorf("%q is read as %v", text, &q)
		}
	}
}

func TestParse(t *testing.T) {
	t.Run("parses common quantities without allocating", parsesCommonQuantitiesWithoutAllocating)
}

// Plans read many quantities.
func parsesCommonQuantitiesWithoutAllocating(t *testing.T) {
	for _, tc := range []struct {
		read  func(string) (int64, error)
		texts []string
	}{
		{ParseCPU, []string{"0", "1", "10", "90", "1000000000", "0m", "109m", "999999999999m"}},
		{ParseMemory, []string{"0", "1", "109", "128974848", "64Ki", "512Mi", "1Gi", "1073741824Gi"}},
	} {
		for _, text := range tc.texts {
			n := testing.AllocsPerRun(10, func() {
				if _, err := tc.read(text); err != nil {
					t.Error(err)
				}
			})
			if n != 0 {
				t.Errorf("%s: %g allocations", text, n)
			}
		}
	}
}
