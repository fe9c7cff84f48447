package promql

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Element is an element of the vector that answers a query: a value, and the labels that say of which pod or
// workload it is.
type Element struct {
	Namespace, Pod, Workload string
	Value                    float64
}

// Query asks the Prometheus at an address for the vector of a query at a time, and passes its elements to take. After
// an error, these say nothing.
type Query func(ctx context.Context, address, query string, at time.Time, take func(Element)) error

// Question is a query to a Prometheus.
type Question struct{ Address, Query string }

// Config is how questions are asked. All fields must be set.
type Config struct {
	Query Query
	Clock clock.WithTicker
	// Patience is how long an answer may take, and Busy why a question is not asked after another one that took longer.
	Patience time.Duration
	Busy     error
	// Labels are the labels that an element needs to be taken.
	Labels string
	// Subject is what is asked about, and Consequence what follows if it is not known, for the log and for Problem.
	Subject, Consequence string
}

// Asker asks questions. All methods are safe for concurrent use.
type Asker struct {
	Config

	mu sync.Mutex
	// failing has a line for each question that failed when it was last asked.
	failing []string
	// logged is the last error of each question in the log, and slow in how many rounds it has taken too long since its
	// last answer.
	logged map[Question]string
	slow   map[Question]int
}

// New returns an asker that has asked nothing.
func New(config Config) *Asker {
	return &Asker{Config: config, logged: map[Question]string{}, slow: map[Question]int{}}
}

// Interval is the time between two rounds.
const Interval = 30 * time.Second

// Run calls round in each interval until ctx is done.
func (a *Asker) Run(ctx context.Context, round func(context.Context)) {
	ticker := a.Clock.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			round(ctx)
		}
	}
}

// Problem returns an error with a line for each question that failed when it was last asked; nil if none did.
func (a *Asker) Problem() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failing) == 0 {
		return nil
	}
	return errors.New(strings.Join(a.failing, "\n"))
}

// Failing returns how many questions failed when they were last asked.
func (a *Asker) Failing() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.failing)
}

// fails sets which questions fail.
func (a *Asker) fails(lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failing = lines
}

// Rest notes that nothing is asked now.
func (a *Asker) Rest() { a.fails(nil) }
