package selfsigned

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// captureLog returns everything that is logged from now on.
func captureLog(t *testing.T) *buffer {
	t.Helper()
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	var b buffer
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(&b, nil)))
	return &b
}

// buffer is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
