package localcluster

import "sync"

// logLimit bounds how much of a log is kept in memory, in bytes.
const logLimit = 4 << 20

// tailBuffer keeps the end of what is written to it. It may be read meanwhile.
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
	// Half at a time, so that a long log is not copied for every line.
	if len(b.content) > b.limit {
		b.content = append([]byte(nil), b.content[len(b.content)-b.limit/2:]...)
	}
	return len(p), nil
}

// String returns what is kept.
func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.content)
}
