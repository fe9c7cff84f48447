package command

import (
	"bytes"
	"context"
	"io"
)

// ReadInput is like io.ReadAll, but ends with ctx: nothing else ends the wait for typed
// input. Later input is lost.
func ReadInput(ctx context.Context, in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := text.ReadFrom(in)
		done <- err
	}()
	select {
	case err := <-done:
		return text.Bytes(), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
