package student

import "math"

// Quantile returns the value that a variable with Student's t distribution stays within, in both
// directions, with a probability. Degrees of freedom may be a fraction, or infinite for the normal
// distribution.
func Quantile(probability, freedom float64) float64 {
	if freedom > 1e6 {
		return math.Sqrt2 * math.Erfinv(probability)
	}
	low, high := 0.0, 1.0
	for within(high, freedom) < probability {
		high *= 2
	}
	for range 100 {
		if middle := (low + high) / 2; within(middle, freedom) < probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// within returns the probability that a variable with Student's t distribution is in [−t, t].
func within(t, freedom float64) float64 {
	return 1 - incompleteBeta(freedom/(freedom+t*t), freedom/2, 0.5)
}

// LeastVariance returns the value that a variable with the chi-squared distribution exceeds with a
// probability, divided by its degrees of freedom.
func LeastVariance(probability, freedom float64) float64 {
	low, high := 0.0, 1.0
	for below(high, freedom) < 1-probability {
		high *= 2
	}
	for range 100 {
		if middle := (low + high) / 2; below(middle, freedom) < 1-probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// below returns the probability that a variable with the chi-squared distribution, divided by its
// degrees of freedom, is below x: the series of the incomplete gamma function (DLMF 8.7.1).
func below(x, freedom float64) float64 {
	a, z := freedom/2, x*freedom/2
	gamma, _ := math.Lgamma(a + 1)
	term := math.Exp(a*math.Log(z) - z - gamma)
	sum := term
	for n := 1.0; term > sum*1e-14; n++ {
		term *= z / (a + n)
		sum += term
	}
	return min(sum, 1)
}

// incompleteBeta returns the regularized incomplete beta function by its continued fraction
// (DLMF 8.17.22), which converges fast on the side of x where it is used.
func incompleteBeta(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(x, 1))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(1-x, b, a)
	}
	ab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(ab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	const tiny, enough = 1e-300, 1e-14
	nonzero := func(f float64) float64 {
		if math.Abs(f) < tiny {
			return tiny
		}
		return f
	}
	// Lentz's method.
	fraction, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m, term := float64(i/2), 1.0
		switch {
		case i == 0:
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / nonzero(1+term*d)
		c = nonzero(1 + term/c)
		fraction *= c * d
		if math.Abs(c*d-1) < enough {
			break
		}
	}
	return front / a * (fraction - 1)
}
