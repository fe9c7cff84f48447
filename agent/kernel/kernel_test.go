package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func small(k Kernel) Work {
	return k.New(1 << 20)
}

func TestKernel(t *testing.T) {
	t.Run("every kernel always has the same result", everyKernelAlwaysHasTheSameResult)
	t.Run("a kernel needs as much memory as it says", aKernelNeedsAsMuchMemoryAsItSays)
	t.Run("a changed set needs a new number", aChangedSetNeedsANewNumber)
	t.Run("the number of matches in the text is right", theNumberOfMatchesInTheTextIsRight)
	t.Run("the version names the set and the Go release", theVersionNamesTheSetAndTheGoRelease)
}

func everyKernelAlwaysHasTheSameResult(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			work := small(k)
			for i := range 20 { // Passes over the data of the memory kernels more than once.
				if err := work(); err != nil {
					t.Fatalf("unit %d: %v", i, err)
				}
			}
		})
	}
}

// collect collects all garbage. A sync.Pool, as encoding/json has, keeps its content for two collections.
func collect() {
	runtime.GC()
	runtime.GC()
}

func aKernelNeedsAsMuchMemoryAsItSays(t *testing.T) {
	const threads, units = 8, 20
	// As while nodes are measured: a collection between units would empty pools, which would be filled again.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, k := range All() {
		if k.Memory {
			continue
		}
		k.New(0) // Creates what threads share.
		var before, live, after runtime.MemStats
		collect()
		runtime.ReadMemStats(&before)
		works := make([]Work, threads)
		for i := range works {
			works[i] = k.New(0)
			if err := works[i](); err != nil {
				t.Fatal(err)
			}
		}
		collect()
		runtime.ReadMemStats(&live)
		for range units {
			if err := works[0](); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(works)
		kept, garbage := int64(live.HeapAlloc-before.HeapAlloc)/threads, int64(after.TotalAlloc-live.TotalAlloc)/units
		if kept > k.Live || garbage > k.Garbage {
			t.Errorf("%s: a thread keeps %d bytes, and a unit leaves %d; it says %d and %d", k.Name, kept, garbage, k.Live, k.Garbage)
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			bytes := 1 << 20
			if k.Memory {
				bytes = 128 << 20
			}
			work := k.New(bytes)
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(k.Amount*float64(b.N)/b.Elapsed().Seconds(), k.Unit)
		})
	}
}

// If the data changes, scores change: a change must not go unnoticed.
func aChangedSetNeedsANewNumber(t *testing.T) {
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"text":   {logText(), "825eea23"},
		"orders": {orders(), "49433cf4"},
	} {
		if sum := sha256.Sum256(tc.data); hex.EncodeToString(sum[:4]) != tc.want {
			t.Errorf("the %s changed: checksum %x; if this is intended, increase set", name, sum[:4])
		}
	}
}

func theNumberOfMatchesInTheTextIsRight(t *testing.T) {
	// Field by field, without a regular expression.
	count := 0
	for l := range strings.Lines(string(logText())) {
		f := strings.Fields(l)
		if len(f) == 10 && (f[7] == "400" || f[7] == "500") && f[9] >= "0.5" && f[9] < "1" && strings.HasSuffix(l, "\n") {
			count++
		}
	}
	if count != slowErrorsInText || count == 0 {
		t.Errorf("got %d matches, want %d", count, slowErrorsInText)
	}
}

func theVersionNamesTheSetAndTheGoRelease(t *testing.T) {
	if v := Version(); !regexp.MustCompile(`^3-go1\.\d+\S*$|^3-devel\S*$`).MatchString(v) {
		t.Errorf("version %q", v)
	}
}
