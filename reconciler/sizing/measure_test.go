package sizing

import "testing"

func TestMeasure(t *testing.T) {
	t.Run("shows the limit of an amount that has one", func(t *testing.T) {
		for of, want := range map[Amount]string{{500, 0}: "500m", {500, 2000}: "500m/2"} {
			if got := CPU.Show(of); got != want {
				t.Errorf("%v is shown as %q, want %q", of, got, want)
			}
		}
	})
}

func TestRange(t *testing.T) {
	t.Run("is valid if it contains a value", func(t *testing.T) {
		for r, want := range map[Range]bool{{}: true, {0, 1}: true, {1, 0}: true, {1, 1}: true, {2, 1}: false} {
			if got := r.Valid(); got != want {
				t.Errorf("%v: Valid() is %t, want %t", r, got, want)
			}
		}
	})
}

func TestFactor(t *testing.T) {
	t.Run("divides its numerator by its denominator", func(t *testing.T) {
		if got := (Factor{4, 5}).Float64(); got != 0.8 {
			t.Errorf("4/5 is %v", got)
		}
	})
}
