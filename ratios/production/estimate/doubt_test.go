package estimate

import (
	"strings"
	"testing"
)

// TestNotCompared checks that a type that is not compared yet says what helps in its situation.
func TestNotCompared(t *testing.T) {
	s := Defaults()
	for _, tc := range []struct {
		name string
		held map[Reason]int
		want string
	}{
		{"nothing runs on both", nil, "let a workload with four replicas or more run on both"},
		{"the first days", map[Reason]int{TooFewHours: 14, Pulls: 2}, "14 workloads run on this node type and on another one for too few hours so far: they show a preliminary ratio after about a day, with 12 hours of much load, and count in full after about 3 days"},
		{"one workload", map[Reason]int{TooFewHours: 1}, "1 workload runs on this node type"},
		{"only workloads that mislead", map[Reason]int{Pulls: 2, Odd: 1}, "3 workloads run on this node type, and none of them counts"},
	} {
		found := doubts(&Type{Held: tc.held}, &known{}, &s)
		if len(found) != 1 || found[0].Code != NotCompared || !strings.Contains(found[0].Detail, tc.want) {
			t.Errorf("%s: %+v", tc.name, found)
		}
	}
}
