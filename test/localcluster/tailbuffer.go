package localcluster

import "sync"

// logLimit is how much of a log is kept in memory, in bytes.
const logLimit = 4 << 20

// tailBuffer keeps the end of the text that is written to it. It can be read and written
// concurrently.
type tailBuffer struct {
	limit int

	mu      sync.Mutex
	content []byte
}

func newTailBuffer() *tailBuffer { return &tailBuffer{limit: logLimit} }

// Write implements io.Writer; it does not fail.
func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content = append(b.content, p...)
	// Drop half at a time, so that a long log is not copied for every line.
	if len(b.content) > b.limit {
		b.content = append([]byte(nil), b.content[len(b.content)-b.limit/2:]...)
	}
	return len(p), nil
}

// String returns the kept text.
func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.content)
}
