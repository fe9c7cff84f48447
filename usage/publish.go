package usage

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Recommend returns what a container needs under a set of ratios, which need not be one of those that are published;
// false while that is unknown.
func (s *Store) Recommend(c history.Container, set Ratios, now time.Time) (recommend.Recommendation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view, ok := s.history.View(c, now)
	if !ok {
		return recommend.Recommendation{}, false
	}
	options := s.options(c)
	return recommend.For(recommend.NewDemand(view, set.Speeds), options.Containers, &options.Recommend, now)
}

// Publish expires old history, and publishes what each container needs under the sets of ratios that
// apply to it. The revision grows only if a size has changed.
func (s *Store) Publish(sets func(history.Container) []Ratios, now time.Time) *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.Expire(now)
	next, ratios := &Table{demands: map[Key]recommend.Recommendation{}, peaks: map[history.Container]map[history.PodID]int64{}}, map[history.Container][]string{}
	for _, c := range s.history.Containers() {
		if ratios[c] = s.recommend(next, c, sets(c), now); ratios[c] == nil {
			ratios[c] = s.Ratios(c)
		}
	}
	s.ratios.Store(&ratios)
	return s.publish(next)
}

// Renew is like Publish for some containers, and leaves what others need as it was published.
func (s *Store) Renew(some map[history.Container]bool, sets func(history.Container) []Ratios, now time.Time) *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.table.Load()
	if old.demands == nil {
		return old // Nothing was published.
	}
	next := &Table{demands: maps.Clone(old.demands), peaks: maps.Clone(old.peaks)}
	for c := range some {
		if s.history.State(c) != nil {
			s.recommend(next, c, sets(c), now)
		}
	}
	return s.publish(next)
}

// recommend puts what a container with a history needs under some sets of ratios into a table. It returns the names of those
// sets.
func (s *Store) recommend(to *Table, c history.Container, sets []Ratios, now time.Time) (names []string) {
	options := s.options(c)
	view, _ := s.history.View(c, now)
	var needed least
	for _, set := range sets {
		if r, ok := recommend.For(recommend.NewDemand(view, set.Speeds), options.Containers, &options.Recommend, now); ok {
			to.demands[Key{c, set.Name}] = r
			names = append(names, set.Name)
			needed = append(needed, need{set.Speeds, r.Target.Memory})
		}
	}
	delete(to.peaks, c)
	if found := s.history.Outliers(c, options.Replicas, needed.on, now); found != nil {
		to.peaks[c] = found
	}
	return names
}

// publish makes a table the newest one.
func (s *Store) publish(next *Table) *Table {
	old := s.table.Load()
	if next.Revision = old.Revision; !same(old.demands, next.demands) {
		next.Revision++
	}
	s.table.Store(next)
	return next
}
