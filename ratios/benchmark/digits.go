package benchmark

import "strconv"

// wayDigits are the digits of a ratio on its way: people read it, and it must be
// closer to where it is than any step.
const wayDigits = 6

// Significant rounds a ratio to what people read, and benchmarks can tell: four
// digits.
func Significant(ratio float64) float64 { return rounded(ratio, 4) }

func rounded(ratio float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'g', digits, 64), 64)
	if err != nil {
		return ratio
	}
	return rounded
}
