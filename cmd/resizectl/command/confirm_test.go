package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]error{
		"y\n": nil, "Yes\n": nil, " y \n": nil, "y": nil,
		"n\n": errNotConfirmed, "\n": errNotConfirmed, "": errNotConfirmed, "yess\n": errNotConfirmed,
	} {
		var out bytes.Buffer
		if err := confirm(t.Context(), strings.NewReader(answer), &out, "Really?"); !errors.Is(err, want) || out.String() != "Really? [y/N] " {
			t.Errorf("%q gives %v, prompt %q", answer, err, &out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := confirm(ctx, never{}, &bytes.Buffer{}, "Really?"); !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

// never is a user who does not answer.
type never struct{}

func (never) Read([]byte) (int, error) { select {} }
