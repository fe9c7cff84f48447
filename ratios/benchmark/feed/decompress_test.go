package feed

import (
	"io"
	"strings"
	"testing"
)

func TestLimited(t *testing.T) {
	for text, want := range map[string]bool{"12345": true, "123456": false} {
		_, err := io.ReadAll(&limited{strings.NewReader(text), 5})
		if (err == nil) != want {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
