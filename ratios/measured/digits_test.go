package measured

import "testing"

func TestDigits(t *testing.T) {
	t.Run("rounds ratios to four digits", roundsRatiosToFourDigits)
}

func roundsRatiosToFourDigits(t *testing.T) {
	for ratio, want := range map[float64]float64{29817.0 / 20482: 1.456, 22207.0 / 20482: 1.084, 0.98765: 0.9877, 1.25: 1.25, 12.3456: 12.35} {
		if got := Significant(ratio); got != want {
			t.Errorf("%v is rounded to %v, want %v", ratio, got, want)
		}
	}
}
