package trend

import (
	"slices"
	"time"
)

// mostSubjects is how many subjects have a record at most.
const mostSubjects = 20_000

// admit returns those of some subjects without a record that get one. If there is no room for all, those that run come first, or ended within a
// day: of them, namespaces come first, and then each namespace has room for the same number of workloads. Those with a record keep it. The rest of
// the room is shared by those that ended before that, in the same way, the last ones first. All others lose their records.
func (b *Book) admit(now time.Time, fresh []Subject, have map[Subject]*Amounts) (admitted []Subject) {
	if len(b.records)+len(fresh) <= b.most {
		return fresh
	}
	var namespaces []Subject
	running, ended := map[string][]Subject{}, map[string][]Subject{}
	add := func(s Subject) {
		switch {
		case have[s] == nil && b.ended(s).Before(now.Add(-day)):
			ended[s.Namespace] = append(ended[s.Namespace], s)
		case s.Kind == "":
			namespaces = append(namespaces, s)
		default:
			running[s.Namespace] = append(running[s.Namespace], s)
		}
	}
	for _, s := range b.Subjects() {
		add(s)
	}
	slices.SortFunc(fresh, Subject.Compare)
	for _, s := range fresh {
		add(s)
	}
	for _, all := range ended {
		slices.SortFunc(all, b.latest)
	}
	keep := map[Subject]bool{}
	room := b.most
	for _, s := range namespaces[:min(len(namespaces), room)] {
		keep[s] = true
	}
	for _, of := range []map[string][]Subject{running, ended} {
		for _, s := range b.share(of, b.most-len(keep)) {
			keep[s] = true
		}
	}
	for s := range b.records {
		if !keep[s] {
			delete(b.records, s)
		}
	}
	for _, s := range fresh {
		if keep[s] {
			admitted = append(admitted, s)
		}
	}
	return admitted
}

// share returns the first ones of each namespace for which there is room, the same number of each, and with what is left the next one of some.
func (b *Book) share(of map[string][]Subject, room int) (kept []Subject) {
	var needs []int
	for _, all := range of {
		needs = append(needs, len(all))
	}
	most := fair(needs, room)
	var next []Subject
	for _, all := range of {
		n := min(most, len(all))
		if kept = append(kept, all[:n]...); n < len(all) {
			next = append(next, all[n])
		}
	}
	slices.SortFunc(next, b.latest)
	return append(kept, next[:min(len(next), room-len(kept))]...)
}

// fair returns the largest share of each, so that the sum of all needs, each up to it, is not more than the room.
func fair(needs []int, room int) (most int) {
	slices.Sort(needs)
	for i, need := range needs {
		if others := len(needs) - i; need*others > room {
			return room / others
		}
		room, most = room-need, need
	}
	return most
}
