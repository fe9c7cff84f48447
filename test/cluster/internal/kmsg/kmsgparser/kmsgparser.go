// Package kmsgparser has the API of github.com/euank/go-kmsg-parser, and a kernel log to which
// the simulated machine writes.
package kmsgparser

import (
	"sync"
	"time"
)

// Parser reads the kernel's log.
type Parser interface {
	SeekEnd() error
	Parse() <-chan Message
	SetLogger(Logger)
	Close() error
}

// Message is an entry of the log.
type Message struct {
	Priority       int
	SequenceNumber int
	Timestamp      time.Time
	Message        string
}

// Logger receives complaints about malformed entries.
type Logger interface {
	Warningf(string, ...interface{})
	Infof(string, ...interface{})
	Errorf(string, ...interface{})
}

// capacity is how many entries wait for a reader. More are lost, as in the kernel's ring buffer.
const capacity = 100

var (
	mu      sync.Mutex
	readers []chan Message
)

// Log appends an entry to the log.
func Log(message string) {
	mu.Lock()
	defer mu.Unlock()
	for _, reader := range readers {
		select {
		case reader <- Message{Timestamp: time.Now(), Message: message}:
		default:
		}
	}
}

type parser struct{}

// NewParser returns a parser of the log.
func NewParser() (Parser, error) { return parser{}, nil }

// SeekEnd does nothing: there are only new entries.
func (parser) SeekEnd() error { return nil }

// Parse returns a channel for the entries from now on, which stays open.
func (parser) Parse() <-chan Message {
	mu.Lock()
	defer mu.Unlock()
	reader := make(chan Message, capacity)
	readers = append(readers, reader)
	return reader
}

// SetLogger does nothing.
func (parser) SetLogger(Logger) {}

// Close does nothing.
func (parser) Close() error { return nil }
