package ratios

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// factor returns a/b in lowest terms and exactly, reading each float as the shortest decimal that
// stands for it: 1.3 is 13/10, as its author meant, not the binary number next
// to it. Where the fraction needs more than 63 bits, its largest bits are kept:
// a relative error below 10⁻¹⁵ for quotients from a thousandth to a thousand. a
// and b must be finite and above 0.
func factor(a, b float64) sizing.Factor {
	x := new(big.Rat).Quo(decimal(a), decimal(b))
	num, den := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	excess := uint(max(63, num.BitLen(), den.BitLen()) - 63)
	num.Rsh(num, excess)
	den.Rsh(den, excess)
	return sizing.Factor{Num: max(1, num.Uint64()), Den: max(1, den.Uint64())}
}

// product multiplies performances as the decimals that stand for them: 1.08 × 1.25
// is 1.35, not the float next to it. It is 0 or infinite if a performance cannot
// be as small or large, or one of the two is none.
func product(a, b float64) float64 {
	if !ValidPerf(a) || !ValidPerf(b) {
		return 0
	}
	p, _ := new(big.Rat).Mul(decimal(a), decimal(b)).Float64()
	return p
}

// decimal reads a float as the shortest decimal that stands for it.
func decimal(f float64) *big.Rat {
	x, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	if !ok {
		// Only infinities and NaN have no decimal, and ValidPerf keeps
		// them out.
		panic(fmt.Sprintf("ratios: performance %g is not finite", f))
	}
	return x
}

// ValidPerf tells whether a performance is one that a table can hold.
func ValidPerf(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
