package limits

// holder is an account that holds something that is limited, or one of its credentials if that
// is not empty.
type holder struct{ name, credential string }

// holders counts what is held, both by accounts and by their credentials.
type holders map[holder]int

// add counts the slots that a holder takes or, if by is negative, releases.
func (h holders) add(of holder, by int) {
	h.count(holder{name: of.name}, by)
	if of.credential != "" {
		h.count(of, by)
	}
}

func (h holders) count(of holder, by int) {
	if h[of] += by; h[of] == 0 {
		delete(h, of)
	}
}

// account returns how much all credentials of an account hold.
func (h holders) account(of holder) int { return h[holder{name: of.name}] }

// credential returns how much a credential holds; 0 if it has no ID.
func (h holders) credential(of holder) int {
	if of.credential == "" {
		return 0
	}
	return h[of]
}

// half returns half of a number, rounded up. Of what its account may hold, a credential may
// hold half.
func half(n int) int { return (n + 1) / 2 }
