package kernel

const (
	// triadStep is how many elements a unit covers: as STREAM counts them, it
	// moves three words of 8 bytes for each.
	triadStep = 1 << 18
	triadMB   = triadStep * 3 * 8 / 1e6
	triadBy   = 3.0
)

// newTriad adds to an array a multiple of another, piece by piece around three
// arrays: the triad of STREAM, bound by memory bandwidth.
func newTriad(bytes int) Work {
	n := max(bytes/3/8/triadStep, 1) * triadStep
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range a {
		// Writing to all of a, too, has the system provide its memory now.
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
