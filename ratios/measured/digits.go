package measured

import "strconv"

// wayDigits is the number of digits of a published ratio. The rounding keeps the ratio
// readable, and its error is smaller than any step toward the target.
const wayDigits = 6

// Significant rounds a ratio to four digits: readable, and as precise as benchmarks are.
func Significant(ratio float64) float64 { return rounded(ratio, 4) }

func rounded(ratio float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'g', digits, 64), 64)
	if err != nil {
		return ratio
	}
	return rounded
}
