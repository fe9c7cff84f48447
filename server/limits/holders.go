package limits

import "github.com/workload-resizer/workload-resizer/server/access"

// holders counts what callers hold of something that is limited: by origin, by account and by
// credential, which are the fields of access.Who that are set.
type holders map[access.Who]int

// whoOf returns the caller for limits that its credentials share.
func whoOf(caller *access.Caller) access.Who {
	who := caller.Who()
	who.Credential = credentialOf(caller)
	return who
}

// add counts what a caller takes or, if by is negative, releases.
func (h holders) add(of access.Who, by int) {
	h.count(originOf(of), by)
	h.count(accountOf(of), by)
	if of.Credential != "" {
		h.count(of, by)
	}
}

func (h holders) count(of access.Who, by int) {
	if h[of] += by; h[of] == 0 {
		delete(h, of)
	}
}

// origin returns how much all accounts of a caller's origin hold.
func (h holders) origin(of access.Who) int { return h[originOf(of)] }

// account returns how much all credentials of a caller's account hold.
func (h holders) account(of access.Who) int { return h[accountOf(of)] }

// credential returns how much a caller's credential holds; 0 if it has no ID.
func (h holders) credential(of access.Who) int {
	if of.Credential == "" {
		return 0
	}
	return h[of]
}

func originOf(who access.Who) access.Who { return access.Who{Origin: who.Origin} }

func accountOf(who access.Who) access.Who {
	return access.Who{Origin: who.Origin, Account: who.Account}
}

// half returns half of a number, rounded up. Of what an origin may hold, each of its accounts may
// hold half, and of that, each of its credentials half.
func half(n int) int { return (n + 1) / 2 }
