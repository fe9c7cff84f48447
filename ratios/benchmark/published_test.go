package benchmark

import (
	"strings"
	"testing"
)

func TestPublished(t *testing.T) {
	t.Run("what can be published", whatCanBePublished)
}

func whatCanBePublished(t *testing.T) {
	for _, tc := range []struct{ name, text, wrong string }{
		{"nothing", ``, ""},
		{"no node type", `{}`, ""},
		{"a ratio", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 1.08}}}`, ""},
		{"none yet", `{"nodeTypes": {"n4": {"baseline": "n2d", "confirmed": 1}}}`, ""},
		{"the least and the greatest", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.01}, "c3": {"baseline": "n2d", "ratio": 100}}}`, ""},
		{"less than that", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.0099}}}`, `nodeTypes["n4"].ratio: must be from 0.01 to 100, or 0 for none, not 0.0099`},
		{"more than that", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 100.1}}}`, `must be from 0.01 to 100, or 0 for none, not 100.1`},
		{"less than nothing", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": -1}}}`, `must be from 0.01 to 100`},
		{"a ratio to nothing", `{"nodeTypes": {"n4": {"ratio": 1}}}`, `needs a name and a baseline`},
		{"something else", `[]`, publishedKey},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parsePublished(map[string]string{publishedKey: tc.text})
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("got %v, want %q", err, tc.wrong)
			}
		})
	}
}
