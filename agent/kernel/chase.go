package kernel

const (
	// chaseSteps is the number of accesses in a unit of work.
	chaseSteps = 1 << 15
	chaseM     = chaseSteps / 1e6
)

// line is one cache line of 64 bytes. It holds the next line to visit, and the position of
// this line in the round, which proves that no line was skipped.
type line struct {
	next, turn uint32
	_          [56]byte
}

// newChase follows a chain through all lines in an unpredictable order. Each access waits for
// the previous one, so this kernel is bound by memory latency.
func newChase(bytes int) Work {
	lines := make([]line, max(bytes/64, 2))
	order := make([]uint32, len(lines))
	for i := range order {
		order[i] = uint32(i)
	}
	r := random()
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	for turn, i := range order {
		lines[i] = line{next: order[(turn+1)%len(order)], turn: uint32(turn)}
	}
	at, turn := order[0], 0
	return func() error {
		for range chaseSteps {
			at = lines[at].next
		}
		turn = (turn + chaseSteps) % len(lines)
		if lines[at].turn != uint32(turn) {
			return errWrong
		}
		return nil
	}
}
