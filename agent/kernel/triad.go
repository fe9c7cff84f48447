package kernel

const (
	// triadStep is the number of elements in a unit of work. As STREAM counts, each element
	// moves three words of 8 bytes.
	triadStep = 1 << 18
	triadMB   = triadStep * 3 * 8 / 1e6
	triadBy   = 3.0
)

// newTriad stores the sum of one array and a multiple of another in a third, one piece at a
// time: the triad of STREAM, bound by memory bandwidth.
func newTriad(bytes int) Work {
	n := max(bytes/3/8/triadStep, 1) * triadStep
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range a {
		// Writing to a makes the system allocate its memory now.
		a[i], b[i], c[i] = -1, float64(i%1000), 2
	}
	at := 0
	return func() error {
		a, b, c := a[at:at+triadStep], b[at:at+triadStep], c[at:at+triadStep]
		for i := range a {
			a[i] = b[i] + triadBy*c[i]
		}
		first, last := at, at+triadStep-1
		at = (at + triadStep) % n
		if a[0] != float64(first%1000)+2*triadBy || a[triadStep-1] != float64(last%1000)+2*triadBy {
			return errWrong
		}
		return nil
	}
}
