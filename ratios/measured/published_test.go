package measured

import (
	"errors"
	"strings"
	"testing"
)

func TestPublished(t *testing.T) {
	t.Run("validates published ratios", validatesPublishedRatios)
}

func validatesPublishedRatios(t *testing.T) {
	for _, tc := range []struct{ name, text, wrong string }{
		{"nothing", ``, ""},
		{"no node types", `{}`, ""},
		{"a ratio", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 1.08}}}`, ""},
		{"no ratio yet", `{"nodeTypes": {"n4": {"baseline": "n2d", "confirmed": 1}}}`, ""},
		{"the minimum and the maximum", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.01}, "c3": {"baseline": "n2d", "ratio": 100}}}`, ""},
		{"below the minimum", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.0099}}}`, `nodeTypes["n4"].ratio: must be from 0.01 to 100, or 0 for none, not 0.0099`},
		{"above the maximum", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 100.1}}}`, `must be from 0.01 to 100, or 0 for none, not 100.1`},
		{"below 0", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": -1}}}`, `must be from 0.01 to 100`},
		{"a ratio without a baseline", `{"nodeTypes": {"n4": {"ratio": 1}}}`, `must have a name and a baseline`},
		{"not an object", `[]`, Key},
		{"what a later version stored", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 1, "later": 1}}}`,
			`ratios.json: unknown field "nodeTypes.n4.later": if a later version has stored this, upgrade to it again, or remove the key ratios.json, which ends the ratios in it`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p Published
			err := errors.Join(Parse(map[string]string{Key: tc.text}, &p), p.Check().Err())
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("got %v, want %q", err, tc.wrong)
			}
		})
	}
}
