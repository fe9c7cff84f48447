package recommend

import "fmt"

// Amounts are millicores of CPU and bytes of memory.
type Amounts struct {
	CPU, Memory int64
}

// String returns the amounts as Kubernetes quantities.
func (a Amounts) String() string {
	return fmt.Sprintf("%dm CPU and %s memory", a.CPU, inMebibytes(a.Memory))
}

func cpuText(amount int64) string {
	if amount == 0 {
		return ""
	}
	return fmt.Sprintf("%dm", amount)
}

func memoryText(amount int64) string {
	if amount == 0 {
		return ""
	}
	return inMebibytes(amount)
}

// inMebibytes returns bytes as a Kubernetes quantity, in whole Mi if possible.
func inMebibytes(amount int64) string {
	if amount%(1<<20) == 0 && amount > 0 {
		return fmt.Sprintf("%dMi", amount>>20)
	}
	return fmt.Sprint(amount)
}

// most is the largest amount, as in the VPA.
const most = 1e14

// whole returns the amount of a number, without its fraction. It is 0 for NaN.
func whole(x float64) int64 {
	switch {
	case x > most:
		return most
	case x > 0:
		return int64(x)
	default: // including NaN
		return 0
	}
}

// scale multiplies an amount.
func scale(amount int64, factor float64) int64 { return whole(float64(amount) * factor) }

// roundUp returns the next multiple of step.
func roundUp(amount, step int64) int64 {
	if step <= 1 {
		return amount
	}
	return (amount + step - 1) / step * step
}

// clamp returns the amount within bounds. A bound of 0 does not exist, and the maximum wins.
func clamp(amount, least, most int64) int64 {
	amount = max(amount, least)
	if most > 0 {
		amount = min(amount, most)
	}
	return amount
}

// apply calls a function for both resources.
func apply(a, b Amounts, f func(a, b int64) int64) Amounts {
	return Amounts{CPU: f(a.CPU, b.CPU), Memory: f(a.Memory, b.Memory)}
}
