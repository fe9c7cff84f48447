package resizes

import (
	"time"

	"github.com/workload-resizer/workload-resizer/server/changelog"
)

// settleFor is how long it takes at most to report pods that were listed again. Meanwhile, newer
// versions can be reported before older ones.
const settleFor = time.Minute

// reached is how far a log of pods has got.
type reached struct {
	// high is the highest version so far.
	high uint64
	// settled is a version up to which everything was reported, and next will be one settleFor
	// after nextAt.
	settled, next uint64
	nextAt        time.Time
	// last is when the last version was reported.
	last time.Time
	// seen is the version that the pods had reached at seenAt.
	seen   uint64
	seenAt time.Time
}

// by takes the version of a pod that has changed, 0 if only something else has, and reports
// whether it is newer than all before.
func (r *reached) by(version uint64, now time.Time) (inOrder bool) {
	switch {
	case now.Sub(r.last) >= settleFor:
		r.settle()
		r.nextAt = now
	case now.Sub(r.nextAt) >= settleFor:
		r.settled, r.next, r.nextAt = max(r.settled, r.next), r.high, now
	}
	r.last = now
	inOrder = version == 0 || version > r.high
	r.high = max(r.high, version)
	return inOrder
}

// pass takes a version that the pods have reached, perhaps without a change to report. It is settled
// after settleFor, so that the log moves on in a cluster in which no pod changes.
func (r *reached) pass(version uint64, now time.Time) {
	if now.Sub(r.seenAt) < settleFor {
		return
	}
	r.high, r.settled = max(r.high, r.seen), max(r.settled, r.seen)
	r.seen, r.seenAt = version, now
}

// settle says that everything up to the highest version was reported.
func (r *reached) settle() { r.settled, r.next = r.high, r.high }

// place returns where the log is. Its tokens name the version that is settled.
func (r *reached) place() changelog.Place { return changelog.Place{Token: r.settled, Reached: r.high} }
