package kernel

// claim is what a group asks of its parent.
type claim struct {
	weight float64
	wanted float64
}

// share divides cores among claims by weight. No claim gets more than it wants, and nothing is
// left over while a claim wants more.
func share(cores float64, claims []claim) []float64 {
	granted := make([]float64, len(claims))
	open := make([]int, 0, len(claims))
	for i, claim := range claims {
		if claim.wanted > 0 {
			open = append(open, i)
		}
	}
	for len(open) > 0 {
		var weights float64
		for _, i := range open {
			weights += claims[i].weightOrOne()
		}
		perWeight := cores / weights
		// Claims that want less than their part are satisfied, which leaves more for the rest.
		rest := open[:0]
		for _, i := range open {
			if claims[i].wanted <= perWeight*claims[i].weightOrOne() {
				granted[i] = claims[i].wanted
				cores -= claims[i].wanted
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest) == len(open) {
			for _, i := range rest {
				granted[i] = perWeight * claims[i].weightOrOne()
			}
			return granted
		}
		open = rest
		cores = max(cores, 0)
	}
	return granted
}

func (c claim) weightOrOne() float64 {
	if c.weight <= 0 {
		return 1
	}
	return c.weight
}
