package footprint

import "testing"

// failures counts the errors of a test that it is used instead of.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

var sink []byte

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name  string
		bytes int
		fails int
	}{{"little memory passes", 1 << 20, 0}, {"much memory fails", 64 << 20, 1}} {
		t.Run(tc.name, func(t *testing.T) {
			parse := func() { sink = make([]byte, tc.bytes) }
			var peaks, allocations failures
			Check(&peaks, 1000, parse)
			CheckAllocated(&allocations, 1000, parse)
			if peaks.n != tc.fails || allocations.n != tc.fails {
				t.Errorf("%d and %d failures, want %d", peaks.n, allocations.n, tc.fails)
			}
		})
	}
}
