package ratios

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// factor returns x, which must be above 0, as a factor. If the fraction needs more than 63 bits,
// the most significant bits are kept: the relative error is below 10⁻¹⁵ for factors from 0.001
// to 1000.
func factor(x *big.Rat) sizing.Factor {
	num, den := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	excess := uint(max(63, num.BitLen(), den.BitLen()) - 63)
	num.Rsh(num, excess)
	den.Rsh(den, excess)
	return sizing.Factor{Num: max(1, num.Uint64()), Den: max(1, den.Uint64())}
}

// product multiplies two performances as decimals: 1.08 × 1.25 is 1.35, not the float next to
// it. If the result is out of range, product returns 0 or infinity; if either operand is not a
// valid performance, it returns 0.
func product(a, b float64) float64 {
	if !ValidPerf(a) || !ValidPerf(b) {
		return 0
	}
	p, _ := new(big.Rat).Mul(decimal(a), decimal(b)).Float64()
	return p
}

// decimal returns the shortest decimal that represents a float: 1.3 is 13/10, as its author
// meant, not the nearest binary number. The float must be finite.
func decimal(f float64) *big.Rat {
	x, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	if !ok {
		// Only infinities and NaN have no decimal, and ValidPerf rejects them.
		panic(fmt.Sprintf("ratios: performance %g is not finite", f))
	}
	return x
}

// ValidPerf reports whether f is a valid performance: finite and above 0.
func ValidPerf(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
