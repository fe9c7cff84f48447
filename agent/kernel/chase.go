package kernel

const (
	// chaseSteps is how many accesses a unit is.
	chaseSteps = 1 << 15
	chaseM     = chaseSteps / 1e6
)

// line is one cache line of 64 bytes: the next one to visit, and which visit of
// the round this is, to know that none was left out.
type line struct {
	next, turn uint32
	_          [56]byte
}

// newChase follows a chain through all lines in an order that cannot be foreseen:
// each access waits for the one before, so this is bound by memory latency.
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
