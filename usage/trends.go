package usage

import (
	"fmt"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// trends is a book with a lock of its own, so that nothing waits for it that usage is collected with.
type trends struct {
	mu   sync.Mutex
	book *trend.Book
}

// CountTrends counts what all subjects have had for some time until now. Those that are not among them had nothing.
func (s *Store) CountTrends(now time.Time, lasted time.Duration, have map[trend.Subject]*trend.Amounts) {
	s.trends.mu.Lock()
	defer s.trends.mu.Unlock()
	s.trends.book.Count(now, lasted, have)
}

// RestoreTrends replaces what is known of the subjects that a book is about, which must not be used after that.
func (s *Store) RestoreTrends(book *trend.Book, about func(trend.Subject) bool) {
	s.trends.mu.Lock()
	defer s.trends.mu.Unlock()
	s.trends.book.Replace(book, about)
}

// TrendSubjects returns the subjects that have a trend, in their order.
func (s *Store) TrendSubjects() []trend.Subject {
	s.trends.mu.Lock()
	defer s.trends.mu.Unlock()
	return s.trends.book.Subjects()
}

// TrendsMissing returns which trends are not known for lack of room; nil if all are.
func (s *Store) TrendsMissing(now time.Time) error {
	s.trends.mu.Lock()
	defer s.trends.mu.Unlock()
	n, since := s.trends.book.Without(), s.trends.book.Shortened()
	switch {
	case n > 0:
		return fmt.Errorf("there is no room for what %d workloads save over time: they count only in their namespaces", n)
	case !since.IsZero():
		return fmt.Errorf("there is no room for what was saved over %d days: only the last %d are kept", int(trend.Kept.Hours()/24), int(now.Sub(since).Hours()/24))
	}
	return nil
}

// ReadTrends calls a function with the trend of each of some subjects, which must not be changed or kept; nil without one. It returns for
// how many seconds of each hour they are known.
func (s *Store) ReadTrends(of []trend.Subject, do func(trend.Subject, *trend.Record)) (known map[trend.Slot]float64) {
	s.trends.mu.Lock()
	defer s.trends.mu.Unlock()
	for _, subject := range of {
		do(subject, s.trends.book.Of(subject))
	}
	return s.trends.book.Known()
}

// Trends returns what each of some subjects had between some times, until do returns false.
func (s *Store) Trends(of []trend.Subject, times []time.Time, now time.Time, do func(trend.Subject, []trend.Sum) bool) {
	s.trends.mu.Lock()
	reader := s.trends.book.Read(times, now)
	s.trends.mu.Unlock()
	for _, subject := range of {
		s.trends.mu.Lock()
		sums := reader.Over(subject, s.trends.book.Of(subject))
		s.trends.mu.Unlock()
		if !do(subject, sums) {
			return
		}
	}
}
