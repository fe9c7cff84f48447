package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// faultsOf returns the faults of a document.
func faultsOf(t *testing.T, text string) Faults {
	t.Helper()
	_, err := Parse([]byte(text), ratios.Provenance{})
	faults, ok := errors.AsType[Faults](err)
	if err != nil && !ok {
		t.Fatalf("error %v", err)
	}
	return faults
}

func TestEdges(t *testing.T) {
	t.Run("accepts bounds up to the limits", acceptsBoundsUpToTheLimits)
	t.Run("a key that cannot be read hides no other fault", aKeyThatCannotBeReadHidesNoOtherFault)
}

func acceptsBoundsUpToTheLimits(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"equal to the other end", strings.Replace(published, `"50m"`, `"16"`, 1), true},
		{"above the other end", strings.Replace(published, `"50m"`, `"16001m"`, 1), false},
		{"64 characters", strings.Replace(published, `"16"`, `"`+strings.Repeat("0", 62)+`16"`, 1), true},
		{"65 characters", strings.Replace(published, `"16"`, `"`+strings.Repeat("0", 63)+`16"`, 1), false},
		{"an exponent with a sign and two digits", strings.Replace(published, `"16"`, `"16e+00"`, 1), true},
		{"an exponent with three digits", strings.Replace(published, `"16"`, `"16e+000"`, 1), false},
		{"a suffix with six letters", strings.Replace(published, `"16"`, `"16eeeeee"`, 1), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if faults := faultsOf(t, tc.text); (len(faults) == 0) != tc.want {
				t.Errorf("faults %q", faults)
			}
		})
	}
}

func aKeyThatCannotBeReadHidesNoOtherFault(t *testing.T) {
	for name, text := range map[string]string{
		"a list":    published + "\n? [a]\n: 1\nextra: 1\n",
		"set twice": published + "\nbaselineNodeType: n4\nextra: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			faults := faultsOf(t, text)
			told := slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, "extra: line ") })
			if len(faults) != 2 || !told {
				t.Errorf("faults %q, want that of extra and one other", faults)
			}
		})
	}
}
